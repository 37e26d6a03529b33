"""`marchwarden batch`: ask many questions from a file."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.cli.temporal import run_batch_on_fleet

if TYPE_CHECKING:
    from marchwarden.core.inputs import Inputs
    from marchwarden.settings import Settings


@click.command(cls=options.InputCommand)
@click.argument("questions", type=click.Path(path_type=Path))
@options.researcher_options
@click.option(
    "--out", "-o", "results", type=click.Path(path_type=Path), required=True, help="Results file, one line per answer."
)
@click.option(
    "--concurrency", type=click.IntRange(1, 64), default=4, show_default=True, help="Questions at the same time."
)
@options.trace_dir
@options.temporal
@click.pass_obj
def batch(
    settings: "Settings",
    questions: Path,
    inputs: "Inputs",
    researchers: tuple[str, ...],
    model: str | None,
    results: Path,
    concurrency: int,
    trace_dir: Path | None,
    temporal: str | None,
) -> int:
    """Ask many questions from a file. Questions whose id is in the results file are skipped.

    QUESTIONS has one JSON object per line, with an id, a question and any other arguments of a request.

    \b
    marchwarden batch questions.jsonl --files docs/wiki -o results.jsonl
    """
    import anyio

    from marchwarden.cli.batch_file import Batch
    from marchwarden.cli.selection import Selection

    unanswered = Batch.load(questions, results)
    selection = Selection(researchers, inputs, model)
    if temporal:
        anyio.run(run_batch_on_fleet, selection, settings, temporal, unanswered)
        return 0
    researcher = selection.build(settings, options.writable_folder(settings, trace_dir), in_process=True)
    anyio.run(unanswered.run, researcher, concurrency)
    return 0
