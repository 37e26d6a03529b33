"""Run a researcher from the command line: show its progress on stderr, print the result, return the exit code."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.text.sanitize import json_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rich.console import RenderableType

    from marchwarden.contract import ResearchResult
    from marchwarden.protocols import ProgressSink
    from marchwarden.settings import Settings


def run_with_progress(
    run: "Callable[[ProgressSink], Awaitable[ResearchResult]]", temporal_address: str | None = None
) -> "ResearchResult":
    """Run a coroutine function that takes a progress sink, and display what it reports."""
    import anyio

    from marchwarden.cli.progress import show_progress

    with show_progress(temporal_address) as display:
        return anyio.run(run, display.report)


def print_result(
    result: "ResearchResult", settings: "Settings", trace_dir: Path, *, as_json: bool = False, verbose: bool = False
) -> int:
    """Print a result. Return 0 if it has citations, else 1."""
    if as_json:
        click.echo(json_text(result.model_dump(mode="json")))
    else:
        from rich.console import Console

        from marchwarden.cli import formatter

        console = Console(highlight=False)
        console.print(formatter.result(result, verbose=verbose))
        if verbose:
            console.print("\nCost by step", _costs_by_step(result, settings, trace_dir), sep="\n")
    return 0 if result.citations else 1


def _costs_by_step(result: "ResearchResult", settings: "Settings", trace_dir: Path) -> "RenderableType":
    """Add up tokens and dollars by step, from the traces of the run and of the researchers it dispatched."""
    from marchwarden.audit.costs import expenses, sum_by, total
    from marchwarden.audit.prices import Prices
    from marchwarden.cli import formatter
    from marchwarden.storage.store import Store

    store, prices = Store.at(trace_dir, settings.environ), Prices.load(settings.prices)
    run_ids = {result.trace_id, *(each.trace_id for each in result.dispatches)}
    stored = [trace_id for trace_id in store.traces() if trace_id in run_ids]
    items = [each for trace_id in stored for each in expenses(store.chain(trace_id).entries, prices)]
    return formatter.costs(sum_by(items, "action"), total(items))
