"""Run a researcher from the command line: show its progress on stderr, print the result, return the exit code."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.settings import MODEL
from marchwarden.text.sanitize import json_text, one_line

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
    result: "ResearchResult",
    settings: "Settings",
    trace_dir: Path,
    model: str | None = None,
    *,
    as_json: bool = False,
    verbose: bool = False,
) -> int:
    """Print a result. Return 0 if it has citations and the selected model, if any, wrote the answer; else 1."""
    if as_json:
        click.echo(json_text(result.model_dump(mode="json")))
    else:
        from marchwarden.cli import formatter
        from marchwarden.cli.pager import print_output

        print_output(formatter.result(result, verbose=verbose))
        if verbose:
            print_output("\nCost by step", _costs_by_step(result, settings, trace_dir))
    is_by_another = _report_unused_model(result) and bool(model or settings.environ.get(MODEL))
    return 0 if result.citations and not is_by_another else 1


def _report_unused_model(result: "ResearchResult") -> bool:
    """Write one line to stderr if the requested model did not write the answer. Returns whether that is so."""
    cost = result.cost_metadata
    if cost.requested_model_id is None:
        return False
    from marchwarden.loop.result import MODEL_TOPIC

    reasons = (gap.detail for gap in result.gaps if gap.topic == MODEL_TOPIC)
    reason = next(reasons, f"{cost.requested_model_id} could not be used")
    click.echo(f"marchwarden: {one_line(reason, 300)}; the answer is by {one_line(cost.model_id, 80)}", err=True)
    return True


def _costs_by_step(result: "ResearchResult", settings: "Settings", trace_dir: Path) -> "RenderableType":
    """Add up tokens and dollars by step, from the traces of the run and of the researchers it dispatched."""
    from marchwarden.audit.costs import expenses, sum_by, total
    from marchwarden.audit.prices import Prices
    from marchwarden.cli import formatter
    from marchwarden.errors import UnknownTrace
    from marchwarden.storage.store import Store

    store, prices = Store.at(trace_dir, settings.environ), Prices.load(settings.prices)
    run_ids = [result.trace_id, *(each.trace_id for each in result.dispatches if each.trace_id)]
    items = []
    for trace_id in run_ids:
        # A trace that could not be written, or of a researcher elsewhere, is not here.
        with suppress(UnknownTrace):
            items += [*expenses(store.chain(trace_id).entries, prices)]
    return formatter.costs(sum_by(items, "action"), total(items))
