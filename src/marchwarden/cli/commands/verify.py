"""`marchwarden verify`: check every citation of a run against the archive."""

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
    from marchwarden.audit.verify import verify as verify_run
    from marchwarden.cli import formatter
    from marchwarden.cli.commands.refresh import check_sources
    from marchwarden.cli.pager import print_output

    store = options.open_store(settings, trace_dir)
    checks = verify_run(store, trace_id)
    if not as_json:
        print_output(formatter.checks(checks), wraps=False)
    source_checks = check_sources(settings, store, trace_id) if online else ()
    if as_json:
        proofs, visits = [asdict(each) for each in checks], [asdict(each) for each in source_checks]
        click.echo(json_text({"checks": proofs, "visits": visits} if online else proofs))
    elif online:
        print_output(formatter.source_checks(source_checks))
    return 0 if all(each.proved for each in checks) and all(each.is_intact for each in source_checks) else 1
