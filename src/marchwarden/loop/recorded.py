"""Recorded: a researcher whose every run is on disk, and so can be asked, resumed, walked again and forked.

Knows how runs begin and end, not what happens in between.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Final

import anyio

from marchwarden.contract import Depth, ResearchConstraints, ResearchRequest, ResearchResult, known_depth
from marchwarden.core.request import parse_request
from marchwarden.errors import TraceHeld
from marchwarden.logs import log_event, timed, trace_context
from marchwarden.protocols import ProgressSink, ignore_progress
from marchwarden.storage.record import RunHeader, RunRecord
from marchwarden.storage.store import Store

PATIENCE_SEC: Final = 10.0
"""For one who writes the same trace: who was killed lets go at once, who was told to stop does so soon after."""
_LOOK_SEC: Final = 0.1


class RecordedResearcher(ABC):
    """Whoever extends it says how a run is opened, and does the research."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @abstractmethod
    def opening(self, request: ResearchRequest) -> RunHeader:
        """What the first line of a run's trace says."""

    @abstractmethod
    async def investigate(self, request: ResearchRequest, record: RunRecord, progress: ProgressSink) -> ResearchResult:
        """One question from its first step to its result, recalled from the record as far as that reaches."""

    async def research(
        self,
        question: str,
        context: str | None = None,
        depth: str = Depth.BALANCED,
        constraints: ResearchConstraints | None = None,
        *,
        progress: ProgressSink = ignore_progress,
    ) -> ResearchResult:
        """Answer one question. Always lands a result, unless the question itself is refused (`InvalidInput`)."""
        request = parse_request(
            {"question": question, "context": context, "depth": known_depth(depth), "constraints": constraints}
        )
        return await self._finished(request, self.store.begin(self.opening(request)), progress)

    async def take_up(
        self, trace_id: str, request: ResearchRequest, *, progress: ProgressSink = ignore_progress
    ) -> ResearchResult:
        """Answer under an id given beforehand; where that run has begun, it is finished as it was asked."""
        record = await self._held(trace_id, request)
        if record.result is not None:
            record.close()
            return record.result
        return await self._finished(record.opening.request, record, progress)

    async def resume(self, trace_id: str, *, progress: ProgressSink = ignore_progress) -> ResearchResult:
        """Finish a run that was cut short; what its trace holds is not done again."""
        record = self.store.reopen(trace_id)
        if record.result is not None:
            record.close()
            return record.result
        return await self._finished(record.opening.request, record, progress)

    async def rerun(self, trace_id: str, *, rethink: bool) -> ResearchResult:
        """Walk a finished run again from its trace and archive alone."""
        record = self.store.reread(trace_id, rethink=rethink)
        return await self._finished(record.opening.request, record, ignore_progress)

    async def fork(
        self, trace_id: str, before_step: int, *, progress: ProgressSink = ignore_progress
    ) -> ResearchResult:
        """Go on from a step of another run as a run of its own, with this mind instead of the one it had."""
        request = self.store.reread(trace_id).opening.request
        record = self.store.fork(trace_id, before_step, self.opening(request))
        return await self._finished(request, record, progress)

    async def _finished(self, request: ResearchRequest, record: RunRecord, progress: ProgressSink) -> ResearchResult:
        async def land() -> ResearchResult:
            return record.finish(await self.investigate(request, record, progress))

        opening = record.opening
        with trace_context(record.trace_id):
            log_event("run begins", researcher=opening.researcher, model=opening.model_id, question=request.question)
            try:
                return await timed("run ends", land, _in_short)
            finally:
                record.close()

    async def _held(self, trace_id: str, request: ResearchRequest) -> RunRecord:
        """The record, once whoever wrote it before is done, stopped or dead."""
        with anyio.move_on_after(PATIENCE_SEC):
            while True:
                try:
                    return self.store.take_up(trace_id, self.opening(request))
                except TraceHeld:
                    await anyio.sleep(_LOOK_SEC)
        raise TraceHeld(f"trace {trace_id} is still being written by another process")


def _in_short(result: ResearchResult) -> Mapping[str, object]:
    cost = result.cost_metadata
    return {
        "confidence": result.confidence,
        "citations": len(result.citations),
        "gaps": len(result.gaps),
        "tokens": cost.tokens_used,
        "iterations": cost.iterations_run,
    }
