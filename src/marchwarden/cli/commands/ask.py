"""`marchwarden ask`: ask one question."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.cli.run import print_result, run_with_progress
from marchwarden.cli.temporal import ask_fleet

if TYPE_CHECKING:
    from marchwarden.core.inputs import Inputs
    from marchwarden.settings import Settings


@click.command(cls=options.InputCommand)
@click.argument("question")
@options.researcher_options
@options.limit_options
@click.option("--context", default=None, help="Background you already know.")
@options.as_json("Print only the ResearchResult, as JSON.")
@options.verbose
@options.trace_dir
@click.option("--local/--mcp", default=False, help="Run researchers in this process instead of as MCP servers.")
@options.temporal
@click.option("--id", "trace_id", metavar="TRACE_ID", help="With --temporal: start or attach to this run.")
@click.pass_obj
def ask(
    settings: "Settings",
    question: str,
    inputs: "Inputs",
    researchers: tuple[str, ...],
    model: str | None,
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
    """Ask a question and print the answer with its sources.

    Several researchers can answer together: the files and databases you give, and the web and arXiv if you give nothing
    to read or have set up a search service.

    \b
    marchwarden ask "What happens when the budget runs out?" --files docs/wiki
    marchwarden ask "How many customers are in Brazil?" --db shop.sqlite
    marchwarden ask "Who designed the Forth Bridge?" --researcher web
    """
    from marchwarden.cli.selection import Selection
    from marchwarden.core.request import parse_request
    from marchwarden.minds.select import mind_notice
    from marchwarden.protocols import send_request

    limits = {
        "max_iterations": max_iterations,
        "token_budget": budget,
        "max_sources": max_sources,
        "source_filter": source_filter,
    }
    constraints = {name: value for name, value in limits.items() if value is not None}
    request = parse_request({"question": question, "context": context, "depth": depth, "constraints": constraints})
    selection = Selection(researchers, inputs, model)
    if temporal:
        result = run_with_progress(ask_fleet(selection, settings, temporal, request, trace_id), temporal)
        folder = trace_dir or settings.trace_dir
        return print_result(result, settings, folder, model, as_json=as_json, verbose=verbose)
    folder = options.writable_folder(settings, trace_dir)
    researcher = selection.build(settings, folder, in_process=local)
    if notice := mind_notice(settings.environ, model):
        click.echo(notice, err=True)
    result = run_with_progress(lambda sink: send_request(researcher, request, progress=sink))
    return print_result(result, settings, folder, model, as_json=as_json, verbose=verbose)
