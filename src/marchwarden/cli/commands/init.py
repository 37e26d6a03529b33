"""`marchwarden init`: create configuration files. Also holds what `marchwarden` prints without arguments."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli.environment import SECTIONS

if TYPE_CHECKING:
    from marchwarden.settings import Settings

START = """\
Marchwarden answers questions from sources and proves every quotation.
  marchwarden ask "Who repainted the bridge?" --files notes   from your files
  marchwarden ask "Who designed the Forth Bridge?"            from web and arXiv
  marchwarden init, marchwarden doctor                        set up and check
  marchwarden --help                                          everything else"""
RESEARCHERS = """\
# Third-party researchers: any MCP server with a `research` tool that follows the contract.
# `marchwarden researchers` lists them with their status.
#
# [library]
# purpose = "Answers from the catalogue of our library."
# scope = ["book", "author", "shelf"]     # words in questions it can answer; none means any
# command = ["node", "library.mjs"]       # started for each call
# env = ["LIBRARY_KEY"]                   # environment variables passed to it
#
# [colleague]
# url = "https://research.example.org/mcp"
# token_env = "COLLEAGUE_TOKEN"           # environment variable with its token
"""


@click.command()
@click.pass_obj
def init(settings: "Settings") -> None:
    """Create commented configuration files: `.env` here, researchers.toml and prices.toml in the home folder.

    Existing files are not changed.

    \b
    marchwarden init
    """
    files = {
        Path(".env"): dotenv(),
        settings.researchers: RESEARCHERS,
        settings.prices: _prices(),
    }
    for path, text in files.items():
        click.echo(_create(path, text))
    click.echo("Uncomment what you want to change.")
    click.echo("Next: run `marchwarden doctor` to check the installation.")


def dotenv() -> str:
    """Return a `.env` file with every variable commented out and explained."""
    return "\n".join(_dotenv_lines())


def _dotenv_lines() -> Iterator[str]:
    yield "# Marchwarden reads this file when it runs in this folder. Environment variables take precedence."
    yield "# It may contain keys: keep it out of version control."
    for title, variables in SECTIONS.items():
        yield f"\n# {title}"
        for each in variables:
            yield f"# {each.meaning}:"
            yield f"# {each.name}={each.example}"
    yield ""


def _prices() -> str:
    """Return the built-in price table, commented out so that later versions can update the prices."""
    from importlib.resources import files

    built_in = files("marchwarden.audit").joinpath("prices.toml").read_text(encoding="utf-8")
    return "\n".join(line if not line or line.startswith("#") else f"# {line}" for line in built_in.splitlines()) + "\n"


def _create(path: Path, text: str) -> str:
    """Create a file unless it exists, and return a message."""
    from marchwarden.core.paths import create_folder
    from marchwarden.errors import InvalidInput

    try:
        if path.exists():
            return f"{path} already exists; unchanged"
        create_folder(path.parent)
        # Readable by the owner only, because it will contain keys.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}; choose another folder") from error
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return f"created {path}"
