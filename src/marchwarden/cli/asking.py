"""The commands that research: ask, resume, batch."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from marchwarden.cli.choosing import RESEARCHERS, Choice, again

if TYPE_CHECKING:
    from marchwarden.contract import ResearchRequest, ResearchResult
    from marchwarden.protocols import Researcher
    from marchwarden.settings import Settings

DEPTHS = ("shallow", "balanced", "deep")
MINDS = ("extractive",)

Command = TypeVar("Command", bound=Callable[..., object])


def _shared(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


where = _shared(
    click.option(
        "--files", "folders", multiple=True, metavar="PATH", help="A folder or file to answer from; repeatable."
    ),
    click.option("--researcher", type=click.Choice(RESEARCHERS), help="Who is asked; files unless said otherwise."),
    click.option("--mind", type=click.Choice(MINDS), default="extractive", expose_value=False, help="Who decides."),
)
limits = _shared(
    click.option(
        "--depth", type=click.Choice(DEPTHS), default="balanced", show_default=True, help="How long to go on."
    ),
    click.option("--budget", type=click.IntRange(min=1000), metavar="TOKENS", help="At most so many tokens."),
    click.option("--max-iterations", type=click.IntRange(1, 20), metavar="N", help="At most so many rounds."),
    click.option("--max-sources", type=click.IntRange(min=1), metavar="N", help="At most so many documents fetched."),
    click.option("--source-filter", metavar="DOMAINS", help="Only these domains or suffixes: .gov,.edu"),
)
trace_dir = click.option("--trace-dir", type=click.Path(path_type=Path), help="Where traces and the archive are kept.")
as_json = click.option("--json", "as_json", is_flag=True, help="Only the ResearchResult, as JSON, on stdout.")
verbose = click.option("--verbose", "-v", is_flag=True, help="Also tokens, iterations and time.")


@click.command()
@click.argument("question")
@where
@limits
@click.option("--context", default=None, help="What is known already and need not be found again.")
@as_json
@verbose
@trace_dir
@click.option("--local/--mcp", default=False, help="In this process, or through an MCP server of its own (default).")
@click.pass_obj
def ask(
    settings: "Settings",
    question: str,
    folders: tuple[str, ...],
    researcher: str | None,
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
) -> int:
    """Ask one question and see the answer with its evidence.

    \b
    marchwarden ask "What happens when the budget runs out?" --files docs/wiki
    marchwarden ask "Which gap categories are there?" --files docs --json
    marchwarden ask "Who designed the Forth Bridge?" --researcher web
    """
    from marchwarden.refusals import checked

    given = {
        "max_iterations": max_iterations,
        "token_budget": budget,
        "max_sources": max_sources,
        "source_filter": source_filter,
    }
    constraints = {name: value for name, value in given.items() if value is not None}
    request = checked({"question": question, "context": context, "depth": depth, "constraints": constraints})
    choice, kept = Choice(researcher, folders), trace_dir or settings.trace_dir
    asked: Researcher = choice.in_process(settings, kept) if local else choice.over_mcp(settings, kept)
    return _shown(asked, request, as_json=as_json, verbose=verbose)


@click.command()
@click.argument("trace_id")
@as_json
@verbose
@trace_dir
@click.pass_obj
def resume(settings: "Settings", trace_id: str, as_json: bool, verbose: bool, trace_dir: Path | None) -> int:
    """Go on with a run that was cut short; nothing that was journaled is done again.

    \b
    marchwarden resume 4b6b2a52-6f3c-4f0e-9d0a-0d8a3f0f7a11
    """
    import anyio

    from marchwarden.cli.watching import progress_sink
    from marchwarden.store import Store

    kept = trace_dir or settings.trace_dir
    investigator = again(Store(kept).reread(trace_id).opening, settings, kept)
    with progress_sink() as sink:
        found = anyio.run(partial(investigator.resume, trace_id, progress=sink.report))
    return _print(found, as_json=as_json, verbose=verbose)


@click.command()
@click.argument("questions", type=click.Path(path_type=Path))
@where
@click.option(
    "--out", "-o", "results", type=click.Path(path_type=Path), required=True, help="Where the results go, a line each."
)
@click.option("--concurrency", type=click.IntRange(1, 64), default=4, show_default=True, help="Questions at once.")
@trace_dir
@click.pass_obj
def batch(
    settings: "Settings",
    questions: Path,
    folders: tuple[str, ...],
    researcher: str | None,
    results: Path,
    concurrency: int,
    trace_dir: Path | None,
) -> int:
    """Ask many questions in one warm process. Finished ids in the results file are not asked again.

    \b
    marchwarden batch questions.jsonl --files docs/wiki -o results.jsonl
    """
    import anyio

    from marchwarden.cli.batching import Batch

    work = Batch.of(questions, results)
    asked = Choice(researcher, folders).in_process(settings, trace_dir or settings.trace_dir)
    anyio.run(work.run, asked, concurrency)
    return 0


def _shown(asked: "Researcher", request: "ResearchRequest", *, as_json: bool, verbose: bool) -> int:
    import anyio

    from marchwarden.cli.watching import progress_sink

    with progress_sink() as sink:
        found = anyio.run(
            partial(
                asked.research,
                **{name: getattr(request, name) for name in type(request).model_fields},
                progress=sink.report,
            )
        )
    return _print(found, as_json=as_json, verbose=verbose)


def _print(found: "ResearchResult", *, as_json: bool, verbose: bool) -> int:
    if as_json:
        click.echo(json.dumps(found.model_dump(mode="json"), ensure_ascii=False))
    else:
        from rich.console import Console

        from marchwarden.cli import formatter

        Console(highlight=False).print(formatter.result(found, verbose=verbose))
    return 0 if found.citations else 1
