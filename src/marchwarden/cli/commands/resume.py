"""`marchwarden resume`: continue an interrupted run."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.cli.run import print_result, run_with_progress

if TYPE_CHECKING:
    from marchwarden.settings import Settings


@click.command()
@options.trace_id
@click.option("--model", "--mind", "model", metavar="MODEL", help="Continue with another model.")
@options.as_json("Print only the ResearchResult, as JSON.")
@options.verbose
@options.trace_dir
@click.pass_obj
def resume(
    settings: "Settings", trace_id: str, model: str | None, as_json: bool, verbose: bool, trace_dir: Path | None
) -> int:
    """Resume an interrupted run. Steps that are in its trace are not repeated.

    \b
    marchwarden resume 4b6b2a52-6f3c-4f0e-9d0a-0d8a3f0f7a11
    """
    from marchwarden.cli.rebuild import rebuild_from_trace

    record = options.open_store(settings, trace_dir).reread(trace_id)
    if record.result is not None:
        click.echo("this run is already finished", err=True)
        folder = trace_dir or settings.trace_dir
        return print_result(record.result, settings, folder, as_json=as_json, verbose=verbose)
    folder = options.writable_folder(settings, trace_dir)
    researcher = rebuild_from_trace(record.header, settings, folder, model)
    result = run_with_progress(lambda sink: researcher.resume(trace_id, progress=sink))
    return print_result(result, settings, folder, model, as_json=as_json, verbose=verbose)
