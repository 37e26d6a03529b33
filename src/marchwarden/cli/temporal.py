"""Asking the fleet from the command line: the same questions and answers, the work done by workers somewhere."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from marchwarden.cli.batch_file import Batch
    from marchwarden.cli.selection import Selection
    from marchwarden.contract import ResearchRequest, ResearchResult
    from marchwarden.protocols import ProgressSink
    from marchwarden.settings import Settings
    from marchwarden.temporal.connection import TemporalConnection
    from marchwarden.temporal.messages import FleetMember

BATCH_AT_ONCE = 1000
"""Questions of a batch that wait for their answers at once; the fleet says how many of them are worked on."""


def engine_at(address: str, settings: "Settings") -> "TemporalConnection":
    from importlib.util import find_spec

    from marchwarden.errors import InvalidInput

    if find_spec("temporalio") is None:
        raise InvalidInput("--temporal needs more than is installed: pip install 'marchwarden[temporal]'")
    from marchwarden.temporal.connection import TemporalConnection

    return TemporalConnection.from_environ(address, settings.environ)


def fleet_ask(
    choice: "Selection",
    settings: "Settings",
    kept: Path,
    address: str,
    request: "ResearchRequest",
    trace_id: str | None,
) -> "Callable[[ProgressSink], Awaitable[ResearchResult]]":
    engine = engine_at(address, settings)
    members = fleet_members(choice, settings, kept)

    async def work(sink: "ProgressSink") -> "ResearchResult":
        from marchwarden.temporal.researcher import TemporalResearcher, new_id

        asked = TemporalResearcher(await engine.connect(), members, choice.mind, engine.heartbeat_sec)
        return await asked.run_request(request, new_id(trace_id), progress=sink)

    return work


async def fleet_batch(choice: "Selection", settings: "Settings", kept: Path, address: str, work: "Batch") -> None:
    """All questions at once: it is the fleet that takes them a few at a time. Begun again, it finds its own runs."""
    from marchwarden.temporal.researcher import TemporalResearcher

    engine = engine_at(address, settings)
    members = fleet_members(choice, settings, kept)
    asked = TemporalResearcher(await engine.connect(), members, choice.mind, engine.heartbeat_sec)
    with work.names() as named:
        await work.run(asked, BATCH_AT_ONCE, named)


def fleet_members(choice: "Selection", settings: "Settings", kept: Path) -> "list[FleetMember]":
    """Everybody meant, as a worker can build them again."""
    from marchwarden.orchestrator.external import REGISTERED
    from marchwarden.temporal.messages import FleetMember

    found = []
    for each in choice.members(settings, kept, in_process=True):
        said = str(each.settings.get("kind"))
        kind = each.name if said == REGISTERED else said
        found.append(FleetMember(each.name, kind, each.purpose, list(each.scope), each.given, dict(each.settings)))
    return found
