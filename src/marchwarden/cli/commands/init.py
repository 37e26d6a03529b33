"""The first steps: what `marchwarden` alone says, and the command that writes the files one may edit."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli.environment import SECTIONS

if TYPE_CHECKING:
    from marchwarden.settings import Settings

START = """\
Marchwarden answers questions from what it really read, and can prove it.
  marchwarden ask "Who repainted the bridge?" --files notes   from your files
  marchwarden ask "Who designed the Forth Bridge?"            from web and arXiv
  marchwarden init, marchwarden doctor                        set up, check up
  marchwarden --help                                          everything else"""
RESEARCHERS = """\
# Researchers of other people: any MCP server with a tool `research` that keeps the contract.
# `marchwarden researchers` lists them and says whether they answer.
#
# [library]
# purpose = "Answers from the catalogue of our library."
# scope = ["book", "author", "shelf"]     # words of the questions it is for; none means any
# command = ["node", "library.mjs"]       # started anew for each call
# env = ["LIBRARY_KEY"]                   # the only variables it gets
#
# [colleague]
# url = "https://research.example.org/mcp"
# token_env = "COLLEAGUE_TOKEN"           # the variable that holds the token it is shown
"""


@click.command()
@click.pass_obj
def init(settings: "Settings") -> None:
    """Write commented files to edit: `.env` here, researchers.toml and prices.toml in the home. Overwrites nothing.

    \b
    marchwarden init
    """
    files = {
        Path(".env"): dotenv(),
        settings.researchers: RESEARCHERS,
        settings.prices: _prices(),
    }
    for path, text in files.items():
        click.echo(_written(path, text))
    click.echo("lines in them are comments: take the # away where you want something else")
    click.echo("next: `marchwarden doctor` says what is there and what is missing")


def dotenv() -> str:
    """Every variable there is, commented out, with what it is for."""
    return "\n".join(_dotenv_lines())


def _dotenv_lines() -> Iterator[str]:
    yield "# What Marchwarden reads when it runs in this folder; the environment wins over it."
    yield "# It may hold keys: keep it out of version control."
    for title, variables in SECTIONS.items():
        yield f"\n# {title}"
        for each in variables:
            yield f"# {each.meaning}:"
            yield f"# {each.name}={each.example}"
    yield ""


def _prices() -> str:
    """The shipped table commented out: copied as it is, it would hide prices that change with a later version."""
    from importlib.resources import files

    shipped = files("marchwarden.audit").joinpath("prices.toml").read_text(encoding="utf-8")
    return "\n".join(line if not line or line.startswith("#") else f"# {line}" for line in shipped.splitlines()) + "\n"


def _written(path: Path, text: str) -> str:
    from marchwarden.errors import InvalidInput

    if path.exists():
        return f"kept   {path}, which is there already"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # For the owner alone: keys will stand in it.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}; choose another folder") from error
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return f"wrote  {path}"
