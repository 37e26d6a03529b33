"""The command that holds a run against the world of today, and the looking that `verify --online` shares with it."""

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
@options.as_json("Documents and statements as JSON.")
@options.trace_dir
@click.pass_obj
def refresh(settings: "Settings", trace_id: str, as_json: bool, trace_dir: Path | None) -> int:
    """Fetch what a run cites again, and list the statements that lost support. Exit 0 if all still stand, else 1.

    \b
    marchwarden refresh TRACE_ID
    """
    from rich.console import Console

    from marchwarden.audit.recheck import statements
    from marchwarden.cli import formatter
    from marchwarden.storage.store import Store

    store = Store.at(trace_dir or settings.trace_dir, settings.environ)
    visits = visited(settings, store, trace_id)
    result = store.reread(trace_id).result
    said = statements(result.answer if result else "", visits)
    if as_json:
        told = {"visits": [asdict(each) for each in visits], "statements": [each.told() for each in said]}
        click.echo(json_text(told))
    else:
        Console(highlight=False).print(formatter.visits(visits), formatter.statements(said), sep="\n")
    return 0 if all(each.stands for each in visits) else 1


def visited(settings: "Settings", store: "Store", trace_id: str) -> "tuple[SourceCheck, ...]":
    """Every document the run cites, looked at where it came from."""
    from tempfile import TemporaryDirectory

    import anyio

    from marchwarden.audit.recheck import recheck_sources
    from marchwarden.cli.source_resolver import SourceResolver

    record = store.reread(trace_id)
    with TemporaryDirectory() as beside:
        return anyio.run(recheck_sources, record, SourceResolver(record.opening, settings, Path(beside)))
