"""Run researchers from the command line: show progress on stderr, print the result, return the exit code."""

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
    from marchwarden.storage.store import Store


def run_with_progress(
    work: "Callable[[ProgressSink], Awaitable[ResearchResult]]", fleet_address: str | None = None
) -> "ResearchResult":
    import anyio

    from marchwarden.cli.progress import progress_sink

    with progress_sink(fleet_address) as sink:
        return anyio.run(work, sink.report)


def fork_run(
    settings: "Settings", store: "Store", trace_id: str, mind: str | None, step: int, *, as_json: bool = False
) -> int:
    """Continue from a step of a run, as a new run."""
    from marchwarden.cli.selection import rebuild_from_trace

    trace_dir = Path(store.place)
    researcher = rebuild_from_trace(store.reread(trace_id).header, settings, trace_dir, mind)
    result = run_with_progress(lambda sink: researcher.fork(trace_id, step, progress=sink))
    return print_result(result, settings, trace_dir, as_json=as_json)


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
            console.print("\nSpent by step", _costs_by_step(result, settings, trace_dir), sep="\n")
    return 0 if result.citations else 1


def _costs_by_step(result: "ResearchResult", settings: "Settings", trace_dir: Path) -> "RenderableType":
    """Return tokens and dollars by step, from the traces of the run and of the researchers it dispatched."""
    from marchwarden.audit.costs import expenses, sum_by, total
    from marchwarden.audit.prices import Prices
    from marchwarden.cli import formatter
    from marchwarden.storage.store import Store

    store, prices = Store.at(trace_dir, settings.environ), Prices.load(settings.prices)
    runs = {result.trace_id, *(each.trace_id for each in result.dispatches)}
    here = [trace_id for trace_id in store.traces() if trace_id in runs]
    spent = [each for trace_id in here for each in expenses(store.chain(trace_id).entries, prices)]
    return formatter.spending(sum_by(spent, "action"), total(spent))
