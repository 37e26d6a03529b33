"""The commands that research: ask, resume, batch."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.cli.selection import Selection, rebuild_from_trace
from marchwarden.cli.temporal import fleet_ask, fleet_batch
from marchwarden.text.sanitize import json_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rich.console import RenderableType

    from marchwarden.contract import ResearchResult
    from marchwarden.protocols import ProgressSink
    from marchwarden.settings import Settings
    from marchwarden.storage.store import Store


@click.command()
@click.argument("question")
@options.where
@options.limits
@click.option("--context", default=None, help="What is known already and need not be found again.")
@options.as_json("Only the ResearchResult, as JSON, on stdout.")
@options.verbose
@options.trace_dir
@click.option("--local/--mcp", default=False, help="In this process, or through an MCP server of its own (default).")
@options.temporal
@click.option("--id", "trace_id", metavar="TRACE_ID", help="With --temporal: the run of this id, begun or found.")
@click.pass_obj
def ask(
    settings: "Settings",
    question: str,
    folders: tuple[str, ...],
    databases: tuple[str, ...],
    researchers: tuple[str, ...],
    mind: str | None,
    depth: str,
    budget: int | None,
    max_iterations: int | None,
    max_sources: int | None,
    source_filter: str | None,
    context: str | None,
    as_json: bool,
    verbose: bool,
    trace_dir: Path | None,
    local: bool,
    temporal: str | None,
    trace_id: str | None,
) -> int:
    """Ask one question and see the answer with its evidence.

    Several researchers are asked at once: the files and databases given, and the web and arXiv where nothing is given
    to read here or a search service is set up.

    \b
    marchwarden ask "What happens when the budget runs out?" --files docs/wiki
    marchwarden ask "How many customers are in Brazil?" --db shop.sqlite
    marchwarden ask "Who designed the Forth Bridge?" --researcher web
    """
    from marchwarden.core.request import parse_request
    from marchwarden.minds.select import mind_notice
    from marchwarden.protocols import send_request

    given = {
        "max_iterations": max_iterations,
        "token_budget": budget,
        "max_sources": max_sources,
        "source_filter": source_filter,
    }
    constraints = {name: value for name, value in given.items() if value is not None}
    request = parse_request({"question": question, "context": context, "depth": depth, "constraints": constraints})
    choice, kept = Selection(researchers, folders, databases, mind), trace_dir or settings.trace_dir
    if temporal:
        found = _watched(fleet_ask(choice, settings, kept, temporal, request, trace_id), temporal)
        return print_result(found, settings, kept, as_json=as_json, verbose=verbose)
    asked = choice.researcher(settings, kept, in_process=local)
    if notice := mind_notice(settings.environ, mind):
        click.echo(notice, err=True)
    found = _watched(lambda sink: send_request(asked, request, progress=sink))
    return print_result(found, settings, kept, as_json=as_json, verbose=verbose)


@click.command()
@options.trace_id
@click.option("--mind", metavar="MIND", help="Another mind than the run had.")
@options.as_json("Only the ResearchResult, as JSON, on stdout.")
@options.verbose
@options.trace_dir
@click.pass_obj
def resume(
    settings: "Settings", trace_id: str, mind: str | None, as_json: bool, verbose: bool, trace_dir: Path | None
) -> int:
    """Go on with a run that was cut short; nothing that was journaled is done again.

    \b
    marchwarden resume 4b6b2a52-6f3c-4f0e-9d0a-0d8a3f0f7a11
    """
    from marchwarden.storage.store import Store

    kept = trace_dir or settings.trace_dir
    investigator = rebuild_from_trace(Store.at(kept, settings.environ).reread(trace_id).opening, settings, kept, mind)
    found = _watched(lambda sink: investigator.resume(trace_id, progress=sink))
    return print_result(found, settings, kept, as_json=as_json, verbose=verbose)


@click.command()
@click.argument("questions", type=click.Path(path_type=Path))
@options.where
@click.option(
    "--out", "-o", "results", type=click.Path(path_type=Path), required=True, help="Where the results go, a line each."
)
@click.option("--concurrency", type=click.IntRange(1, 64), default=4, show_default=True, help="Questions at once.")
@options.trace_dir
@options.temporal
@click.pass_obj
def batch(
    settings: "Settings",
    questions: Path,
    folders: tuple[str, ...],
    databases: tuple[str, ...],
    researchers: tuple[str, ...],
    mind: str | None,
    results: Path,
    concurrency: int,
    trace_dir: Path | None,
    temporal: str | None,
) -> int:
    """Ask many questions in one warm process. Finished ids in the results file are not asked again.

    \b
    marchwarden batch questions.jsonl --files docs/wiki -o results.jsonl
    """
    import anyio

    from marchwarden.cli.batch_file import Batch

    work = Batch.of(questions, results)
    choice, kept = Selection(researchers, folders, databases, mind), trace_dir or settings.trace_dir
    if temporal:
        anyio.run(fleet_batch, choice, settings, kept, temporal, work)
        return 0
    asked = choice.researcher(settings, kept, in_process=True)
    anyio.run(work.run, asked, concurrency)
    return 0


def forked(
    settings: "Settings", store: "Store", trace_id: str, mind: str | None, step: int, *, as_json: bool = False
) -> int:
    """Go on from a step of a run, as a run of its own."""
    kept = Path(store.place)
    investigator = rebuild_from_trace(store.reread(trace_id).opening, settings, kept, mind)
    found = _watched(lambda sink: investigator.fork(trace_id, step, progress=sink))
    return print_result(found, settings, kept, as_json=as_json)


def _watched(
    work: "Callable[[ProgressSink], Awaitable[ResearchResult]]", fleet_at: str | None = None
) -> "ResearchResult":
    """Do the work, with its progress on stderr."""
    import anyio

    from marchwarden.cli.progress import progress_sink

    with progress_sink(fleet_at) as sink:
        return anyio.run(work, sink.report)


def print_result(
    found: "ResearchResult", settings: "Settings", kept: Path, *, as_json: bool = False, verbose: bool = False
) -> int:
    if as_json:
        click.echo(json_text(found.model_dump(mode="json")))
    else:
        from rich.console import Console

        from marchwarden.cli import formatter

        console = Console(highlight=False)
        console.print(formatter.result(found, verbose=verbose))
        if verbose:
            console.print("\nSpent by step", _bill(found, settings, kept), sep="\n")
    return 0 if found.citations else 1


def _bill(found: "ResearchResult", settings: "Settings", kept: Path) -> "RenderableType":
    """Tokens by step and dollars, from the run's own trace and those of the researchers it dispatched."""
    from marchwarden.audit.costs import expenses, sum_by, total
    from marchwarden.audit.prices import Prices
    from marchwarden.cli import formatter
    from marchwarden.storage.store import Store

    store, prices = Store.at(kept, settings.environ), Prices.load(settings.prices)
    runs = {found.trace_id, *(each.trace_id for each in found.dispatches)}
    here = [trace_id for trace_id in store.traces() if trace_id in runs]
    spent = [each for trace_id in here for each in expenses(store.chain(trace_id).entries, prices)]
    return formatter.spending(sum_by(spent, "action"), total(spent))
