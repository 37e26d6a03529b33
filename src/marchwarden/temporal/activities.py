"""Duties: what a worker does for the engine, each step of it in the trace. Is told how researchers are built.

A run that another worker began is taken up from the shared trace; what that one had journaled is not done again.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Final

from temporalio import activity
from temporalio.exceptions import ApplicationError

from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import InvalidInput, MarchwardenError, ResearcherUnavailable, TraceHeld
from marchwarden.orchestrator.dispatch import is_certain
from marchwarden.protocols import Mind, Progress, ProgressSink, Researcher, send_request
from marchwarden.storage.store import Store
from marchwarden.temporal.messages import HEARTBEAT, LEAD, RESEARCH, Answer, Errand, Member, Move, Sign, Turn
from marchwarden.temporal.pi_step import move

BEATS: Final = 3
"""Signs of life in the time after which none is taken for death."""

Build = Callable[[Member, Mind], Researcher]
Think = Callable[[str | None, str], Mind]
"""The mind of a name, or the usual one, for the run of an id."""


@dataclass(frozen=True)
class Activities:
    """The two things a worker can be asked to do: research, and the next move of a PI."""

    build: Build
    think: Think
    embedded: Mind
    store: Store

    @activity.defn(name=RESEARCH)
    async def research(self, errand: Errand) -> Answer:
        async with _beating(errand.trace_id) as report, _told():
            researcher = self.build(errand.member, self.think(errand.mind, errand.trace_id))
            result = await _researched(researcher, errand, report)
            kept = self.store.archive.keep(result.model_dump_json().encode())
            self.store.notes.clear(f"calls/{errand.trace_id}")
        whole = result.model_dump(mode="json") if errand.number == 0 else None
        tokens = result.cost_metadata.tokens_used
        return Answer(errand.number, kept, is_certain(result), tokens=tokens, result=whole)

    @activity.defn(name=LEAD)
    async def lead(self, turn: Turn) -> Move:
        async with _beating(turn.trace_id) as report, _told():
            mind = self.think(turn.question.mind, turn.trace_id)
            made = await move(turn, mind, self.embedded, self.store, report)
            if made.result is not None:
                self.store.notes.clear(f"calls/{turn.trace_id}")
            return made


async def _researched(researcher: Researcher, errand: Errand, report: ProgressSink) -> ResearchResult:
    """Run the assignment. A researcher that takes run ids continues a run that was interrupted."""
    request = ResearchRequest.model_validate(errand.request)
    return await send_request(researcher, request, errand.trace_id, progress=report)


@asynccontextmanager
async def _told() -> AsyncIterator[None]:
    """What no second try mends is told at once; of everything else the engine makes another try."""
    try:
        yield
    except TraceHeld:
        raise
    except (InvalidInput, ResearcherUnavailable) as error:
        raise ApplicationError(str(error), type=type(error).__name__, non_retryable=True) from error
    except MarchwardenError as error:
        raise ApplicationError(str(error), type=type(error).__name__) from error


@asynccontextmanager
async def _beating(trace_id: str) -> AsyncIterator[ProgressSink]:
    """Signs of life, with the progress last heard of."""
    latest = Sign(trace_id, "begin", "a worker has it")

    async def report(progress: Progress) -> None:
        nonlocal latest
        latest = Sign(**asdict(progress))
        activity.heartbeat(latest)

    async def beat() -> None:
        while True:
            activity.heartbeat(latest)
            await asyncio.sleep(pause)

    pause = (activity.info().heartbeat_timeout or HEARTBEAT) / timedelta(seconds=BEATS)
    beating = asyncio.create_task(beat())
    try:
        yield report
    finally:
        beating.cancel()
