"""The activities of a worker: run a researcher, and compute the next step of a PI.

A worker continues a run that another worker started from the shared trace. Recorded steps are not repeated.
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
from marchwarden.temporal.messages import (
    HEARTBEAT,
    LEAD,
    RESEARCH,
    FleetMember,
    HeartbeatProgress,
    PiMove,
    PiTurn,
    ResearchTask,
    TaskAnswer,
)
from marchwarden.temporal.pi_step import compute_move

BEATS_PER_TIMEOUT: Final = 3
"""Heartbeats per heartbeat timeout."""

Build = Callable[[FleetMember, Mind], Researcher]
Think = Callable[[str | None, str], Mind]
"""Selects the mind with this name, or the default one, for a run id."""


@dataclass(frozen=True)
class Activities:
    """Runs researchers and PI steps."""

    build: Build
    think: Think
    embedded: Mind
    store: Store

    @activity.defn(name=RESEARCH)
    async def research(self, task: ResearchTask) -> TaskAnswer:
        async with _heartbeats(task.trace_id) as report, _temporal_errors():
            researcher = self.build(task.member, self.think(task.mind, task.trace_id))
            result = await _run_task(researcher, task, report)
            result_hash = self.store.archive.keep(result.model_dump_json().encode())
            self.store.notes.clear(f"calls/{task.trace_id}")
        whole = result.model_dump(mode="json") if task.number == 0 else None
        tokens = result.cost_metadata.tokens_used
        return TaskAnswer(task.number, result_hash, is_certain(result), tokens=tokens, result=whole)

    @activity.defn(name=LEAD)
    async def lead(self, turn: PiTurn) -> PiMove:
        async with _heartbeats(turn.trace_id) as report, _temporal_errors():
            mind = self.think(turn.question.mind, turn.trace_id)
            next_move = await compute_move(turn, mind, self.embedded, self.store, report)
            if next_move.result is not None:
                self.store.notes.clear(f"calls/{turn.trace_id}")
            return next_move


async def _run_task(researcher: Researcher, task: ResearchTask, report: ProgressSink) -> ResearchResult:
    """Run the assignment. A researcher that takes run ids continues a run that was interrupted."""
    request = ResearchRequest.model_validate(task.request)
    return await send_request(researcher, request, task.trace_id, progress=report)


@asynccontextmanager
async def _temporal_errors() -> AsyncIterator[None]:
    """Map errors: invalid input and unavailable researchers are not retried, everything else is."""
    try:
        yield
    except TraceHeld:
        raise
    except (InvalidInput, ResearcherUnavailable) as error:
        raise ApplicationError(str(error), type=type(error).__name__, non_retryable=True) from error
    except MarchwardenError as error:
        raise ApplicationError(str(error), type=type(error).__name__) from error


@asynccontextmanager
async def _heartbeats(trace_id: str) -> AsyncIterator[ProgressSink]:
    """Send heartbeats with the latest progress."""
    latest = HeartbeatProgress(trace_id, "begin", "a worker has it")

    async def report(progress: Progress) -> None:
        nonlocal latest
        latest = HeartbeatProgress(**asdict(progress))
        activity.heartbeat(latest)

    async def beat() -> None:
        while True:
            activity.heartbeat(latest)
            await asyncio.sleep(pause)

    pause = (activity.info().heartbeat_timeout or HEARTBEAT) / timedelta(seconds=BEATS_PER_TIMEOUT)
    beating = asyncio.create_task(beat())
    try:
        yield report
    finally:
        beating.cancel()
