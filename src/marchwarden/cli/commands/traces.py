"""`marchwarden traces`: list and search past runs."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.text.sanitize import json_text

if TYPE_CHECKING:
    from marchwarden.cli.formatter import TraceSummary
    from marchwarden.settings import Settings
    from marchwarden.storage.store import Store


@click.command()
@options.as_json("Print the list as JSON.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Maximum number of runs.")
@click.option(
    "--search", "words", metavar="WORDS", help="Only runs whose question, answer or sources contain all these words."
)
@options.trace_dir
@click.pass_obj
def traces(settings: "Settings", as_json: bool, limit: int, words: str | None, trace_dir: Path | None) -> None:
    """List past runs, newest first.

    \b
    marchwarden traces --limit 5
    marchwarden traces --search bridge
    """
    from marchwarden.cli import formatter
    from marchwarden.cli.pager import print_paged

    store = options.open_store(settings, trace_dir)
    ids = store.traces() if words is None else _search(store, words)
    shown = [_summary(store, trace_id) for trace_id in ids[:limit]]
    if as_json:
        click.echo(json_text([asdict(each) for each in shown]))
    elif shown:
        print_paged(formatter.traces(shown))
        if len(ids) > len(shown):
            click.echo(f"showing {len(shown)} of {len(ids)}; --limit {len(ids)} shows all", err=True)
    elif words is None:
        click.echo(f"no runs in {store.place} yet; start one with `marchwarden ask`")
    else:
        click.echo("no run contains all of these words; `marchwarden traces` lists every run")


def _search(store: "Store", words: str) -> list[str]:
    """Return the ids of matching runs. Fast for thousands of runs: only two lines of each trace are read."""
    from marchwarden.audit.catalog import RunCatalog, search_runs

    return [run.trace_id for run in search_runs(RunCatalog(store).runs(), words)]


def _summary(store: "Store", trace_id: str) -> "TraceSummary":
    from marchwarden.cli.formatter import TraceSummary

    entries = store.chain(trace_id).entries
    question, confidence = "", None
    for entry in entries:
        match entry.fields:
            case {"request": {"question": str(text)}}:
                question = text
            case {"result": {"confidence": float(score)}}:
                confidence = score
    state = "finished" if entries and entries[-1].action == "result" else "incomplete"
    return TraceSummary(trace_id, entries[0].timestamp if entries else "", state, question, confidence)
