"""`marchwarden runs`: list, watch, cancel and retry runs on the fleet."""

import json
from typing import TYPE_CHECKING, TypeVar

import click

from marchwarden.cli.help import CommandGroup
from marchwarden.cli.temporal import temporal_connection
from marchwarden.text.sanitize import escape_json, one_line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from marchwarden.settings import Settings
    from marchwarden.temporal.connection import Client
    from marchwarden.temporal.runs import FleetRun

T = TypeVar("T")

MAX_LINE_LENGTH = 800

STATES = ("running", "completed", "failed", "canceled", "terminated", "timedout")
temporal = click.option(
    "--temporal",
    required=True,
    metavar="HOST:PORT",
    envvar="MARCHWARDEN_TEMPORAL",
    help="Address of the Temporal server.",
)


@click.group(cls=CommandGroup)
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

    async def print_runs(client: "Client") -> None:
        from marchwarden.temporal.runs import runs as list_fleet_runs

        async for each in list_fleet_runs(client, state, limit):
            click.echo(_as_json(each) if as_json else _line(each))

    _with_client(settings, temporal, print_runs)


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
    from marchwarden.cli.progress import show_progress
    from marchwarden.cli.run import print_result
    from marchwarden.temporal.runs import watch as watch_run

    with show_progress(temporal) as display:
        result = _with_client(settings, temporal, lambda client: watch_run(client, trace_id, display.report))
    return print_result(result, settings, settings.trace_dir, as_json=as_json)


@runs.command()
@click.argument("trace_id")
@temporal
@click.pass_obj
def cancel(settings: "Settings", trace_id: str, temporal: str) -> None:
    """Stop a run. No more tokens are spent on it.

    \b
    marchwarden runs cancel TRACE_ID --temporal 127.0.0.1:7233
    """
    from marchwarden.temporal.runs import cancel as cancel_run

    _with_client(settings, temporal, lambda client: cancel_run(client, trace_id))
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
    from marchwarden.temporal.runs import retry as retry_run

    _with_client(settings, temporal, lambda client: retry_run(client, trace_id))
    click.echo(f"restarted; watch it with `marchwarden runs watch {trace_id}`", err=True)


def _with_client(settings: "Settings", address: str, action: "Callable[[Client], Awaitable[T]]") -> T:
    import anyio

    connection = temporal_connection(address, settings)

    async def connect_and_run() -> T:
        return await action(await connection.connect())

    return anyio.run(connect_and_run)


def _as_json(run: "FleetRun") -> str:
    return escape_json(json.dumps(vars(run), default=str, ensure_ascii=False))


def _line(run: "FleetRun") -> str:
    names = ", ".join(run.researchers)
    return one_line(
        f"{run.trace_id}  {run.state:9}  {run.began:%Y-%m-%d %H:%M}  {names}  {run.question}", MAX_LINE_LENGTH
    )
