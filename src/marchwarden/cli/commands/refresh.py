"""`marchwarden refresh`: check whether cited sources have changed. `verify --online` uses the same check."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.text.sanitize import json_text

if TYPE_CHECKING:
    from marchwarden.audit.recheck import SourceCheck
    from marchwarden.settings import Settings
    from marchwarden.storage.store import Store


@click.command()
@options.trace_id
@options.as_json("Print documents and statements as JSON.")
@options.trace_dir
@click.pass_obj
def refresh(settings: "Settings", trace_id: str, as_json: bool, trace_dir: Path | None) -> int:
    """Fetch the cited sources again and list statements that lost their support.

    Exit code 0 if every citation still holds, else 1.

    \b
    marchwarden refresh TRACE_ID
    """
    from marchwarden.audit.recheck import statement_statuses
    from marchwarden.cli import formatter
    from marchwarden.cli.pager import print_output

    store = options.open_store(settings, trace_dir)
    source_checks = check_sources(settings, store, trace_id)
    result = store.reread(trace_id).result
    statements = statement_statuses(result.answer if result else "", source_checks)
    if as_json:
        visits = [asdict(each) for each in source_checks]
        click.echo(json_text({"visits": visits, "statements": [each.to_json() for each in statements]}))
    else:
        print_output(formatter.source_checks(source_checks), formatter.statements(statements))
    return 0 if all(each.is_intact for each in source_checks) else 1


def check_sources(settings: "Settings", store: "Store", trace_id: str) -> "tuple[SourceCheck, ...]":
    """Fetch every cited document from its origin and compare it with the archive."""
    from tempfile import TemporaryDirectory

    import anyio

    from marchwarden.audit.recheck import recheck_sources
    from marchwarden.cli.source_resolver import SourceResolver

    record = store.reread(trace_id)
    with TemporaryDirectory() as scratch:
        return anyio.run(recheck_sources, record, SourceResolver(record.header, settings, Path(scratch)))
