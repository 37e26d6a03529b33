"""`marchwarden doctor`: check the installation."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.text.sanitize import json_text

if TYPE_CHECKING:
    from marchwarden.settings import Settings


@click.command()
@click.option("--all", "check_all", is_flag=True, help="Check every archived file and index, not only a sample.")
@click.option("--offline", is_flag=True, help="Do not check the network.")
@options.as_json("Print the checks as JSON.")
@options.trace_dir
@click.pass_obj
def doctor(settings: "Settings", check_all: bool, offline: bool, as_json: bool, trace_dir: Path | None) -> int:
    """Check the installation, and show how to fix each problem.

    Keys are never shown. Missing keys, extras and services are optional: Marchwarden works without them. Exit code 1
    if something is broken.

    \b
    marchwarden doctor
    marchwarden doctor --offline --json
    """
    from marchwarden.cli.doctor_local import check_local
    from marchwarden.cli.doctor_network import check_network

    checks = [*check_local(settings, trace_dir or settings.trace_dir, check_all=check_all)]
    if not offline:
        checks += check_network(settings)
    if as_json:
        click.echo(json_text([asdict(each) for each in checks]))
    else:
        from marchwarden.cli import formatter
        from marchwarden.cli.pager import print_output

        print_output(formatter.doctor_checks(checks))
    return 1 if any(each.state == "broken" for each in checks) else 0
