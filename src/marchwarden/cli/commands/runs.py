"""The `runs` commands: list, watch, cancel and retry runs on the fleet."""

import json
from typing import TYPE_CHECKING, TypeVar

import click

from marchwarden.cli.temporal import engine_at

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from marchwarden.settings import Settings
    from marchwarden.temporal.connection import Client
    from marchwarden.temporal.runs import FleetRun

T = TypeVar("T")

STATES = ("running", "completed", "failed", "canceled", "terminated", "timedout")
temporal = click.option(
    "--temporal",
    required=True,
    metavar="HOST:PORT",
    envvar="MARCHWARDEN_TEMPORAL",
    help="Address of the Temporal server.",
)


@click.group()
def runs() -> None:
    """Manage runs on the fleet.

    \b
    marchwarden runs list --temporal 127.0.0.1:7233
    marchwarden runs watch TRACE_ID --temporal 127.0.0.1:7233
    """


@runs.command("list")
@temporal
@click.option("--state", type=click.Choice(STATES), help="Only runs in this state.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Maximum number of runs.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@click.pass_obj
def list_runs(settings: "Settings", temporal: str, state: str | None, limit: int, as_json: bool) -> None:
    """List runs, newest first.

    \b
    marchwarden runs list --temporal 127.0.0.1:7233 --state failed
    """

    async def work(client: "Client") -> None:
        from marchwarden.temporal.runs import runs as listed

        async for each in listed(client, state, limit):
            click.echo(_as_json(each) if as_json else _line(each))

    _through(settings, temporal, work)


@runs.command()
@click.argument("trace_id")
@temporal
@click.option("--json", "as_json", is_flag=True, help="Print only the ResearchResult, as JSON.")
@click.pass_obj
def watch(settings: "Settings", trace_id: str, temporal: str, as_json: bool) -> int:
    """Watch a run until it finishes, and print its answer.

    \b
    marchwarden runs watch TRACE_ID --temporal 127.0.0.1:7233
    """
    from marchwarden.cli.progress import progress_sink
    from marchwarden.cli.run import print_result
    from marchwarden.temporal.runs import watch as watched

    with progress_sink(temporal) as sink:
        found = _through(settings, temporal, lambda client: watched(client, trace_id, sink.report))
    return print_result(found, settings, settings.trace_dir, as_json=as_json)


@runs.command()
@click.argument("trace_id")
@temporal
@click.pass_obj
def cancel(settings: "Settings", trace_id: str, temporal: str) -> None:
    """Stop a run. No more tokens are spent on it.

    \b
    marchwarden runs cancel TRACE_ID --temporal 127.0.0.1:7233
    """
    from marchwarden.temporal.runs import cancel as cancelled

    _through(settings, temporal, lambda client: cancelled(client, trace_id))
    click.echo(f"cancelled; `marchwarden runs retry {trace_id}` resumes it", err=True)


@runs.command()
@click.argument("trace_id")
@temporal
@click.pass_obj
def retry(settings: "Settings", trace_id: str, temporal: str) -> None:
    """Resume a failed or cancelled run from its trace.

    \b
    marchwarden runs retry TRACE_ID --temporal 127.0.0.1:7233
    """
    from marchwarden.temporal.runs import retry as retried

    _through(settings, temporal, lambda client: retried(client, trace_id))
    click.echo(f"restarted; watch it with `marchwarden runs watch {trace_id}`", err=True)


def _through(settings: "Settings", address: str, work: "Callable[[Client], Awaitable[T]]") -> T:
    import anyio

    engine = engine_at(address, settings)

    async def connected() -> T:
        return await work(await engine.connect())

    return anyio.run(connected)


def _as_json(run: "FleetRun") -> str:
    return json.dumps(vars(run), default=str, ensure_ascii=False)


def _line(run: "FleetRun") -> str:
    from marchwarden.text.sanitize import one_line

    who = ", ".join(run.researchers)
    return one_line(f"{run.trace_id}  {run.state:9}  {run.began:%Y-%m-%d %H:%M}  {who}  {run.question}", 200)
