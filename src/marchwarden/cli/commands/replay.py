"""The `replay` command: show a run step by step, rerun it offline, or fork it at a step."""

import json
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
@click.option("--rerun", is_flag=True, help="Run it again from trace and archive alone, and compare.")
@click.option("--mind", metavar="MIND", help="With --from: let this mind go on, as a run of its own.")
@click.option("--from", "step", type=click.IntRange(min=2), metavar="STEP", help="The first step that is done anew.")
@options.as_json("The steps, the comparison or the new result as JSON.")
@options.trace_dir
@click.pass_obj
def replay(
    settings: "Settings",
    trace_id: str,
    rerun: bool,
    mind: str | None,
    step: int | None,
    as_json: bool,
    trace_dir: Path | None,
) -> int:
    """Show a run step by step; run it again from its trace alone; or fork it from a step, with another mind.

    \b
    marchwarden replay TRACE_ID
    marchwarden replay TRACE_ID --rerun
    marchwarden replay TRACE_ID --mind extractive --from 4
    """
    from marchwarden.cli.commands.ask import forked

    if rerun and step:
        raise click.UsageError("--rerun repeats a run and --from forks it: give one of them")
    if mind and not step:
        raise click.UsageError("--mind needs --from STEP: the step from which it goes on")
    store = options.open_store(settings, trace_dir)
    if step:
        return forked(settings, store, trace_id, mind, step, as_json=as_json)
    return _rerun(store, trace_id, as_json=as_json) if rerun else _walk(store, trace_id, as_json=as_json)


def _walk(store: "Store", trace_id: str, *, as_json: bool) -> int:
    from marchwarden.cli import formatter
    from marchwarden.cli.pager import show
    from marchwarden.storage.record import RunHeader

    chain = store.chain(trace_id)
    RunHeader.of(chain.entries, trace_id)
    if as_json:
        click.echo(json_text([_line(entry) for entry in chain.entries]))
    else:
        show(formatter.steps(chain.entries))
    ended = bool(chain.entries) and chain.entries[-1].action == "result"
    if chain.damage or chain.torn or not ended:
        why = chain.damage or ("its last line is torn" if chain.torn else "it has no result yet")
        click.echo(f"incomplete: {why}; `marchwarden resume {trace_id}` goes on where it can", err=True)
        return 1
    return 0


def _line(entry: "TraceEntry") -> dict[str, object]:
    """A step as it stands in the trace, without what chains it to the one before."""
    head = {"step": entry.step, "action": entry.action, "timestamp": entry.timestamp, "decision": entry.decision}
    return {**head, **entry.fields}


def _rerun(store: "Store", trace_id: str, *, as_json: bool) -> int:
    import anyio

    from marchwarden.audit.replay import rerun
    from marchwarden.cli.selection import rebuild_run_offline
    from marchwarden.minds.extractive import ExtractiveMind

    done = anyio.run(rerun, store, trace_id, ExtractiveMind(), rebuild_run_offline)
    if as_json:
        click.echo(json.dumps({"identical": not done.differences, "differences": done.differences}))
    elif done.differences:
        click.echo(f"different: {', '.join(done.differences)}")
    else:
        from marchwarden.text.plural import pluralize

        cited = pluralize(len(done.result.citations), "citation")
        click.echo(f"identical: {cited}, confidence {done.result.confidence}")
    return 1 if done.differences else 0
