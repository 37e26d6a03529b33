"""The command that examines the whole installation: what is well, what is missing, what is broken, and what helps."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from marchwarden.cli import options
from marchwarden.text.sanitize import json_text

if TYPE_CHECKING:
    from marchwarden.settings import Settings

State = Literal["ok", "missing", "broken"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `missing` is what one can do without; `remedy` is what helps."""

    subject: str
    state: State
    detail: str
    remedy: str = ""


@click.command()
@click.option("--all", "whole", is_flag=True, help="Every archived body and every index, not only a sample.")
@click.option("--offline", is_flag=True, help="Do not look whether anybody can be reached.")
@options.as_json("The findings as JSON.")
@options.trace_dir
@click.pass_obj
def doctor(settings: "Settings", whole: bool, offline: bool, as_json: bool, trace_dir: Path | None) -> int:
    """Look whether everything is there and well, and say what helps where it is not.

    Keys are only looked for, never shown. Exit 0 also where keys, extras or the network are missing, all of which one
    can do without; 1 if something is broken.

    \b
    marchwarden doctor
    marchwarden doctor --offline --json
    """
    from marchwarden.cli.doctor_local import examined
    from marchwarden.cli.doctor_network import reached

    found = [*examined(settings, trace_dir or settings.trace_dir, whole=whole)]
    if not offline:
        found += reached(settings)
    if as_json:
        click.echo(json_text([asdict(each) for each in found]))
    else:
        from rich.console import Console

        from marchwarden.cli import formatter

        Console(highlight=False).print(formatter.findings(found))
    return 1 if any(each.state == "broken" for each in found) else 0
