"""Run questions on the workers of a Temporal server instead of in this process."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from marchwarden.cli.batch_file import Batch
    from marchwarden.cli.selection import Selection
    from marchwarden.contract import ResearchRequest, ResearchResult
    from marchwarden.protocols import ProgressSink
    from marchwarden.researchers.selected import SelectedResearcher
    from marchwarden.settings import Settings
    from marchwarden.temporal.connection import TemporalConnection
    from marchwarden.temporal.messages import FleetMember

BATCH_AT_ONCE = 1000
"""Questions of a batch that wait at the same time; the fleet decides how many of them are worked on."""


def engine_at(address: str, settings: "Settings") -> "TemporalConnection":
    from importlib.util import find_spec

    from marchwarden.errors import InvalidInput

    if find_spec("temporalio") is None:
        raise InvalidInput("--temporal needs more than is installed: pip install 'marchwarden[temporal]'")
    from marchwarden.temporal.connection import TemporalConnection

    return TemporalConnection.from_environ(address, settings.environ)


def fleet_ask(
    selection: "Selection",
    settings: "Settings",
    address: str,
    request: "ResearchRequest",
    trace_id: str | None,
) -> "Callable[[ProgressSink], Awaitable[ResearchResult]]":
    engine = engine_at(address, settings)
    members = fleet_members(selection, settings)

    async def work(sink: "ProgressSink") -> "ResearchResult":
        from marchwarden.temporal.researcher import TemporalResearcher, new_id

        asked = TemporalResearcher(await engine.connect(), members, selection.mind, engine.heartbeat_sec)
        return await asked.run_request(request, new_id(trace_id), progress=sink)

    return work


async def fleet_batch(selection: "Selection", settings: "Settings", address: str, work: "Batch") -> None:
    """Submit all questions; the fleet takes a few at a time. A repeated batch finds its earlier runs."""
    from marchwarden.temporal.researcher import TemporalResearcher

    engine = engine_at(address, settings)
    members = fleet_members(selection, settings)
    asked = TemporalResearcher(await engine.connect(), members, selection.mind, engine.heartbeat_sec)
    with work.names() as named:
        await work.run(asked, BATCH_AT_ONCE, named)


def fleet_members(selection: "Selection", settings: "Settings") -> "list[FleetMember]":
    """Return everything that is selected, described so that a worker can build it."""
    from marchwarden.minds.select import select_mind
    from marchwarden.temporal.messages import FleetMember

    # Refuses here a model that no worker can use.
    select_mind(selection.mind, settings.environ)
    members = [_fleet_member(each, settings) for each in selection.selected(settings)]
    registered = [
        FleetMember(each.name, each.name, each.purpose, list(each.scope), each.given, dict(each.settings))
        for each in selection.registered_members(settings)
    ]
    return members + registered


def _fleet_member(selected: "SelectedResearcher", settings: "Settings") -> "FleetMember":
    from marchwarden.temporal.messages import FleetMember

    spec, described = selected.spec, dict(selected.describe(settings))
    return FleetMember(selected.name, spec.kind, spec.purpose, list(spec.scope), selected.is_given, described)
