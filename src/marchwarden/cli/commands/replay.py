"""`marchwarden replay`: show a run step by step, rerun it offline, or fork it at a step."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.text.sanitize import json_text

if TYPE_CHECKING:
    from marchwarden.settings import Settings
    from marchwarden.storage.store import Store
    from marchwarden.storage.trace import TraceEntry


@click.command()
@options.trace_id
@click.option("--rerun", is_flag=True, help="Re-run it offline from the trace and archive, and compare.")
@click.option("--model", "--mind", "model", metavar="MODEL", help="With --from: model for the forked run.")
@click.option("--from", "step", type=click.IntRange(min=2), metavar="STEP", help="Step to restart from.")
@options.as_json("Print the steps, the comparison or the new result as JSON.")
@options.trace_dir
@click.pass_obj
def replay(
    settings: "Settings",
    trace_id: str,
    rerun: bool,
    model: str | None,
    step: int | None,
    as_json: bool,
    trace_dir: Path | None,
) -> int:
    """Show a run step by step, re-run it offline, or fork it at a step with another model.

    \b
    marchwarden replay TRACE_ID
    marchwarden replay TRACE_ID --rerun
    marchwarden replay TRACE_ID --model extractive --from 4
    """
    if rerun and step:
        raise click.UsageError("--rerun and --from cannot be combined: use one of them")
    if model and not step:
        raise click.UsageError("--model needs --from STEP: the step to restart from")
    store = options.open_store(settings, trace_dir)
    if step:
        options.writable_folder(settings, trace_dir)
        return _fork(settings, store, trace_id, model, step, as_json=as_json)
    return _rerun(store, trace_id, as_json=as_json) if rerun else _show_steps(store, trace_id, as_json=as_json)


def _show_steps(store: "Store", trace_id: str, *, as_json: bool) -> int:
    from marchwarden.cli import formatter
    from marchwarden.cli.pager import print_paged
    from marchwarden.storage.record import RunHeader

    chain = store.chain(trace_id)
    RunHeader.from_trace(chain.entries, trace_id)
    if as_json:
        click.echo(json_text([_entry_json(entry) for entry in chain.entries]))
    else:
        print_paged(formatter.steps(chain.entries))
    is_finished = bool(chain.entries) and chain.entries[-1].action == "result"
    if chain.damage or chain.torn or not is_finished:
        reason = chain.damage or ("its last line is incomplete" if chain.torn else "it has no result yet")
        click.echo(f"incomplete: {reason}; run `marchwarden resume {trace_id}` to continue", err=True)
        return 1
    return 0


def _entry_json(entry: "TraceEntry") -> dict[str, object]:
    """Return a trace entry without its hashes."""
    head = {"step": entry.step, "action": entry.action, "timestamp": entry.timestamp, "decision": entry.decision}
    return {**head, **entry.fields}


def _rerun(store: "Store", trace_id: str, *, as_json: bool) -> int:
    import anyio

    from marchwarden.audit.replay import rerun
    from marchwarden.cli.rebuild import rebuild_run_offline
    from marchwarden.minds.extractive import ExtractiveMind

    outcome = anyio.run(rerun, store, trace_id, ExtractiveMind(), rebuild_run_offline)
    if as_json:
        click.echo(json_text({"identical": not outcome.differences, "differences": outcome.differences}))
    elif outcome.differences:
        click.echo(f"different: {', '.join(outcome.differences)}")
    else:
        from marchwarden.text.sanitize import pluralize

        citations = pluralize(len(outcome.result.citations), "citation")
        click.echo(f"identical: {citations}, confidence {outcome.result.confidence}")
    return 1 if outcome.differences else 0


def _fork(settings: "Settings", store: "Store", trace_id: str, model: str | None, step: int, *, as_json: bool) -> int:
    """Restart from a step, as a new run."""
    from marchwarden.cli.rebuild import rebuild_from_trace
    from marchwarden.cli.run import print_result, run_with_progress

    trace_dir = Path(store.place)
    researcher = rebuild_from_trace(store.reread(trace_id).header, settings, trace_dir, model)
    result = run_with_progress(lambda sink: researcher.fork(trace_id, step, progress=sink))
    return print_result(result, settings, trace_dir, model, as_json=as_json)
