"""Run questions on the workers of a Temporal server instead of in this process."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from marchwarden.cli.batch_file import Batch
    from marchwarden.cli.selection import SelectedResearcher, Selection
    from marchwarden.contract import ResearchRequest, ResearchResult
    from marchwarden.protocols import ProgressSink
    from marchwarden.settings import Settings
    from marchwarden.temporal.connection import TemporalConnection
    from marchwarden.temporal.messages import FleetMember

MAX_SUBMITTED = 1000
"""Questions of a batch that are submitted at the same time. The fleet decides how many of them it runs."""


def temporal_connection(address: str, settings: "Settings") -> "TemporalConnection":
    """Return the connection to a Temporal server. Raises `InvalidInput` without the `temporal` extra."""
    from importlib.util import find_spec

    from marchwarden.errors import InvalidInput

    if find_spec("temporalio") is None:
        raise InvalidInput("--temporal needs the `temporal` extra: pip install 'marchwarden[temporal]'")
    from marchwarden.temporal.connection import TemporalConnection

    return TemporalConnection.from_environ(address, settings.environ)


def ask_fleet(
    selection: "Selection", settings: "Settings", address: str, request: "ResearchRequest", trace_id: str | None
) -> "Callable[[ProgressSink], Awaitable[ResearchResult]]":
    """Return the coroutine function that sends a request to the fleet. Raises `InvalidInput` before it connects."""
    connection = temporal_connection(address, settings)
    members = fleet_members(selection, settings)

    async def run(sink: "ProgressSink") -> "ResearchResult":
        from marchwarden.temporal.researcher import TemporalResearcher, new_id

        client = await connection.connect()
        researcher = TemporalResearcher(client, members, selection.model, connection.heartbeat_sec)
        return await researcher.run_request(request, new_id(trace_id), progress=sink)

    return run


async def run_batch_on_fleet(selection: "Selection", settings: "Settings", address: str, batch: "Batch") -> None:
    """Submit all questions. The run ids stay the same, so a repeated batch attaches to its earlier runs."""
    from marchwarden.temporal.researcher import TemporalResearcher

    connection = temporal_connection(address, settings)
    members = fleet_members(selection, settings)
    client = await connection.connect()
    researcher = TemporalResearcher(client, members, selection.model, connection.heartbeat_sec)
    with batch.run_ids() as run_id:
        await batch.run(researcher, MAX_SUBMITTED, run_id)


def fleet_members(selection: "Selection", settings: "Settings") -> "list[FleetMember]":
    """Describe the selected researchers so that a worker can build them."""
    from marchwarden.minds.select import select_mind
    from marchwarden.temporal.messages import FleetMember

    # Raises `InvalidInput` here rather than on a worker.
    select_mind(selection.model, settings.environ)
    members = [_fleet_member(each, settings) for each in selection.researchers(settings)]
    external = [
        FleetMember(each.name, each.name, each.purpose, list(each.scope), each.given, dict(each.settings))
        for each in selection.external_members(settings)
    ]
    return members + external


def _fleet_member(selected: "SelectedResearcher", settings: "Settings") -> "FleetMember":
    from marchwarden.temporal.messages import FleetMember

    spec, description = selected.spec, dict(selected.describe(settings))
    return FleetMember(selected.name, spec.kind, spec.purpose, list(spec.scope), selected.has_inputs, description)
