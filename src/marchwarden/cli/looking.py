"""The commands that look at what is there: replay, verify, traces, contract. Only `verify --online` reaches outside."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from marchwarden.cli.formatter import TraceSummary
    from marchwarden.settings import Settings
    from marchwarden.store import Store

trace_dir = click.option("--trace-dir", type=click.Path(path_type=Path), help="Where traces and the archive are kept.")


@click.command()
@click.argument("trace_id")
@click.option("--rerun", is_flag=True, help="Run it again from trace and archive alone, and compare.")
@click.option("--mind", metavar="MIND", help="With --from: let this mind go on, as a run of its own.")
@click.option("--from", "step", type=click.IntRange(min=2), metavar="STEP", help="The first step that is done anew.")
@trace_dir
@click.pass_obj
def replay(
    settings: "Settings", trace_id: str, rerun: bool, mind: str | None, step: int | None, trace_dir: Path | None
) -> int:
    """Show a run step by step; run it again from its trace alone; or fork it from a step, with another mind.

    \b
    marchwarden replay TRACE_ID
    marchwarden replay TRACE_ID --rerun
    marchwarden replay TRACE_ID --mind extractive --from 4
    """
    from marchwarden.cli.asking import forked

    if rerun and step:
        raise click.UsageError("--rerun repeats a run and --from forks it: give one of them")
    if mind and not step:
        raise click.UsageError("--mind needs --from STEP: the step from which it goes on")
    store = _store(settings, trace_dir)
    if step:
        return forked(settings, store, trace_id, mind, step)
    return _rerun(store, trace_id) if rerun else _walk(store, trace_id)


def _walk(store: "Store", trace_id: str) -> int:
    from rich.console import Console

    from marchwarden.cli import formatter
    from marchwarden.record import Opening

    chain = store.chain(trace_id)
    Opening.of(chain.entries, trace_id)
    Console(highlight=False).print(formatter.steps(chain.entries))
    ended = bool(chain.entries) and chain.entries[-1].action == "result"
    if chain.damage or chain.torn or not ended:
        why = chain.damage or ("its last line is torn" if chain.torn else "it has no result yet")
        click.echo(f"incomplete: {why}; `marchwarden resume {trace_id}` goes on where it can", err=True)
        return 1
    return 0


def _rerun(store: "Store", trace_id: str) -> int:
    import anyio

    from marchwarden.cli.choosing import without_anybody
    from marchwarden.minds.extractive import ExtractiveMind
    from marchwarden.replay import rerun

    done = anyio.run(rerun, store, trace_id, ExtractiveMind(), without_anybody)
    if done.differences:
        click.echo(f"different: {', '.join(done.differences)}")
        return 1
    click.echo(f"identical: {len(done.result.citations)} citations, confidence {done.result.confidence}")
    return 0


@click.command()
@click.argument("trace_id")
@click.option("--online", is_flag=True, help="Then fetch what it cites again, and say how each document stands today.")
@click.option("--json", "as_json", is_flag=True, help="The checks as JSON.")
@trace_dir
@click.pass_obj
def verify(settings: "Settings", trace_id: str, online: bool, as_json: bool, trace_dir: Path | None) -> int:
    """Prove every citation of a run again, with no model and, unless --online, no network. Exit 0 if all hold, else 1.

    \b
    marchwarden verify TRACE_ID
    marchwarden verify --online TRACE_ID
    """
    from rich.console import Console

    from marchwarden.cli import formatter
    from marchwarden.cli.checking import visited
    from marchwarden.verification import verify as verified

    store = _store(settings, trace_dir)
    checks = verified(store, trace_id)
    console = Console(highlight=False)
    if not as_json:
        console.print(formatter.checks(checks), soft_wrap=True)
    visits = visited(settings, store, trace_id) if online else ()
    if as_json:
        told = [asdict(check) for check in checks]
        found = {"checks": told, "visits": [asdict(visit) for visit in visits]} if online else told
        click.echo(json.dumps(found, ensure_ascii=False))
    elif online:
        console.print(formatter.visits(visits))
    return 0 if all(check.proved for check in checks) and all(visit.stands for visit in visits) else 1


@click.command()
@click.option("--json", "as_json", is_flag=True, help="The list as JSON.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many.")
@trace_dir
@click.pass_obj
def traces(settings: "Settings", as_json: bool, limit: int, trace_dir: Path | None) -> None:
    """List the runs, the latest first.

    \b
    marchwarden traces --limit 5
    """
    from rich.console import Console

    from marchwarden.cli import formatter

    store = _store(settings, trace_dir)
    found = [_summary(store, trace_id) for trace_id in store.traces()[:limit]]
    if as_json:
        click.echo(json.dumps([asdict(each) for each in found], ensure_ascii=False))
    elif found:
        Console(highlight=False).print(formatter.traces(found))
    else:
        click.echo(f"no runs in {store.place} yet; `marchwarden ask` makes one")


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
@click.option("--json", "as_json", is_flag=True, help="The sums as JSON.")
@trace_dir
@click.pass_obj
def costs(settings: "Settings", by: str, as_json: bool, trace_dir: Path | None) -> None:
    """Sum what all runs have spent, from their traces and the price table.

    \b
    marchwarden costs --by model
    """
    from rich.console import Console

    from marchwarden.cli import formatter
    from marchwarden.costs import ledger, summed, total
    from marchwarden.pricing import Prices

    spent = ledger(_store(settings, trace_dir), Prices.load(settings.prices))
    sums, whole = summed(spent, by), total(spent)
    if as_json:
        click.echo(json.dumps([asdict(each) for each in (*sums, whole)], ensure_ascii=False))
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
    from marchwarden.store import Store

    return Store.at(folder or settings.trace_dir, settings.environ)
