"""The `verify` command: check every citation of a run against the archive."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.text.sanitize import json_text

if TYPE_CHECKING:
    from marchwarden.settings import Settings


@click.command()
@options.trace_id
@click.option("--online", is_flag=True, help="Also fetch the cited documents again and report what changed.")
@options.as_json("Print the checks as JSON.")
@options.trace_dir
@click.pass_obj
def verify(settings: "Settings", trace_id: str, online: bool, as_json: bool, trace_dir: Path | None) -> int:
    """Verify every citation of a run, without a model and (unless --online) without network.

    Exit code 0 if every check passes, else 1.

    \b
    marchwarden verify TRACE_ID
    marchwarden verify --online TRACE_ID
    """
    from rich.console import Console

    from marchwarden.audit.verify import verify as verify_run
    from marchwarden.cli import formatter
    from marchwarden.cli.commands.refresh import check_sources

    store = options.open_store(settings, trace_dir)
    checks = verify_run(store, trace_id)
    console = Console(highlight=False)
    if not as_json:
        console.print(formatter.checks(checks), soft_wrap=True)
    visits = check_sources(settings, store, trace_id) if online else ()
    if as_json:
        checked = [asdict(check) for check in checks]
        found = {"checks": checked, "visits": [asdict(visit) for visit in visits]} if online else checked
        click.echo(json_text(found))
    elif online:
        console.print(formatter.visits(visits))
    return 0 if all(check.proved for check in checks) and all(visit.is_intact for visit in visits) else 1
