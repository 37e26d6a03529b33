"""The commands that look at what is there: replay, verify, traces, contract. Only `verify --online` reaches outside."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.text.sanitize import json_text

if TYPE_CHECKING:
    from marchwarden.cli.formatter import TraceSummary
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
    store = _store(settings, trace_dir)
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


@click.command()
@options.trace_id
@click.option("--online", is_flag=True, help="Then fetch what it cites again, and say how each document stands today.")
@options.as_json("The checks as JSON.")
@options.trace_dir
@click.pass_obj
def verify(settings: "Settings", trace_id: str, online: bool, as_json: bool, trace_dir: Path | None) -> int:
    """Prove every citation of a run again, with no model and, unless --online, no network. Exit 0 if all hold, else 1.

    \b
    marchwarden verify TRACE_ID
    marchwarden verify --online TRACE_ID
    """
    from rich.console import Console

    from marchwarden.audit.verify import verify as verified
    from marchwarden.cli import formatter
    from marchwarden.cli.commands.refresh import visited

    store = _store(settings, trace_dir)
    checks = verified(store, trace_id)
    console = Console(highlight=False)
    if not as_json:
        console.print(formatter.checks(checks), soft_wrap=True)
    visits = visited(settings, store, trace_id) if online else ()
    if as_json:
        told = [asdict(check) for check in checks]
        found = {"checks": told, "visits": [asdict(visit) for visit in visits]} if online else told
        click.echo(json_text(found))
    elif online:
        console.print(formatter.visits(visits))
    return 0 if all(check.proved for check in checks) and all(visit.stands for visit in visits) else 1


@click.command()
@options.as_json("The list as JSON.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many.")
@click.option(
    "--search", "words", metavar="WORDS", help="Only runs whose question, answer or sources have all of them."
)
@options.trace_dir
@click.pass_obj
def traces(settings: "Settings", as_json: bool, limit: int, words: str | None, trace_dir: Path | None) -> None:
    """List the runs, the latest first.

    \b
    marchwarden traces --limit 5
    marchwarden traces --search bridge
    """
    from marchwarden.cli import formatter
    from marchwarden.cli.pager import show

    store = _store(settings, trace_dir)
    ids = store.traces() if words is None else _searched(store, words)
    found = [_summary(store, trace_id) for trace_id in ids[:limit]]
    if as_json:
        click.echo(json_text([asdict(each) for each in found]))
    elif found:
        show(formatter.traces(found))
        if len(ids) > len(found):
            click.echo(f"{len(found)} of {len(ids)}; --limit {len(ids)} lists them all", err=True)
    elif words is None:
        click.echo(f"no runs in {store.place} yet; `marchwarden ask` makes one")
    else:
        click.echo("no run has all of these words; `marchwarden traces` lists every run")


def _searched(store: "Store", words: str) -> list[str]:
    """The runs that have all the words. Reads two lines of each trace, so that a thousand of them are no matter."""
    from marchwarden.audit.catalog import RunCatalog, searched

    return [run.trace_id for run in searched(RunCatalog(store).runs(), words)]


def _summary(store: "Store", trace_id: str) -> "TraceSummary":
    from marchwarden.cli.formatter import TraceSummary

    entries = store.chain(trace_id).entries
    question, confidence = "", None
    for entry in entries:
        match entry.fields:
            case {"request": {"question": str(asked)}}:
                question = asked
            case {"result": {"confidence": float(score)}}:
                confidence = score
    state = "finished" if entries and entries[-1].action == "result" else "incomplete"
    return TraceSummary(trace_id, entries[0].timestamp if entries else "", state, question, confidence)


@click.command()
@click.option(
    "--by", type=click.Choice(["day", "model", "researcher"]), default="day", show_default=True, help="Sums by."
)
@options.as_json("The sums as JSON.")
@options.trace_dir
@click.pass_obj
def costs(settings: "Settings", by: str, as_json: bool, trace_dir: Path | None) -> None:
    """Sum what all runs have spent, from their traces and the price table.

    \b
    marchwarden costs --by model
    """
    from rich.console import Console

    from marchwarden.audit.costs import ledger, summed, total
    from marchwarden.audit.prices import Prices
    from marchwarden.cli import formatter

    spent = ledger(_store(settings, trace_dir), Prices.load(settings.prices))
    sums, whole = summed(spent, by), total(spent)
    if as_json:
        click.echo(json_text([asdict(each) for each in (*sums, whole)]))
    else:
        Console(highlight=False).print(formatter.spending(sums, whole), soft_wrap=True)


@click.command()
@click.argument("which", type=click.Choice(["result", "constraints"]))
def contract(which: str) -> None:
    """Print the JSON schema of a ResearchResult or of the constraints.

    \b
    marchwarden contract result
    """
    from marchwarden.contract import ResearchConstraints, ResearchResult

    model = ResearchResult if which == "result" else ResearchConstraints
    click.echo(json.dumps(model.model_json_schema(), indent=1))


def _store(settings: "Settings", folder: Path | None) -> "Store":
    from marchwarden.storage.store import Store

    return Store.at(folder or settings.trace_dir, settings.environ)
