"""Base class of researchers whose runs are recorded and can be resumed, re-run and forked.

Starts and ends runs. Subclasses do the research.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Final

import anyio

from marchwarden.contract import Depth, ResearchConstraints, ResearchRequest, ResearchResult, depth_or_balanced
from marchwarden.core.request import parse_request
from marchwarden.errors import InvalidInput, TraceHeld
from marchwarden.logs import log_event, timed, trace_context
from marchwarden.protocols import WARNING, Mind, Progress, ProgressSink, ignore_progress
from marchwarden.storage.record import RunHeader, RunRecord
from marchwarden.storage.store import Store

LOCK_TIMEOUT_SEC: Final = 10.0
"""How long to wait for another process that writes the same trace. A killed process releases it immediately."""
_LOCK_POLL_SEC: Final = 0.1


class RecordedResearcher(ABC):
    """A researcher with a mind, a free fallback mind and a store for its runs."""

    def __init__(self, mind: Mind, *, store: Store, fallback: Mind, name: str) -> None:
        self.mind = mind
        self.store = store
        self.fallback = fallback
        self.name = name

    @property
    @abstractmethod
    def source_name(self) -> str:
        """The name of the source in the trace."""

    @property
    @abstractmethod
    def settings(self) -> Mapping[str, object]:
        """The settings that the trace stores to rebuild this researcher."""

    @abstractmethod
    async def investigate(self, request: ResearchRequest, record: RunRecord, progress: ProgressSink) -> ResearchResult:
        """Answer one request. Steps in the record are reused, not repeated."""

    def header(self, request: ResearchRequest) -> RunHeader:
        """Return the first line of a run's trace."""
        return RunHeader(
            request=request,
            researcher=self.name,
            source=self.source_name,
            settings=self.settings,
            model_id=self.mind.model_id,
            conclusion_tokens=self.mind.conclusion_tokens,
        )

    async def research(
        self,
        question: str,
        context: str | None = None,
        depth: str = Depth.BALANCED,
        constraints: ResearchConstraints | None = None,
        *,
        progress: ProgressSink = ignore_progress,
    ) -> ResearchResult:
        """Answer one question. Always returns a result, unless the arguments are invalid (`InvalidInput`)."""
        request = parse_request(
            {"question": question, "context": context, "depth": depth_or_balanced(depth), "constraints": constraints}
        )
        return await self.run_request(request, progress=progress)

    async def run_request(
        self, request: ResearchRequest, trace_id: str | None = None, *, progress: ProgressSink = ignore_progress
    ) -> ResearchResult:
        """Answer a request. If a run with this id exists, finish that run with its original request."""
        if trace_id is None:
            return await self._run(self.store.begin(self.header(request)), progress)
        return await self._finish(await self._open_record(trace_id, request), progress)

    async def resume(self, trace_id: str, *, progress: ProgressSink = ignore_progress) -> ResearchResult:
        """Finish an interrupted run. Recorded steps are not repeated."""
        return await self._finish(self.store.reopen(trace_id), progress)

    async def rerun(self, trace_id: str, *, rethink: bool) -> ResearchResult:
        """Re-run a finished run from its trace and archive only."""
        return await self._run(self.store.reread(trace_id, rethink=rethink), ignore_progress)

    async def fork(
        self, trace_id: str, before_step: int, *, progress: ProgressSink = ignore_progress
    ) -> ResearchResult:
        """Start a new run from a step of another run, with this researcher's mind."""
        header = self.header(self.store.reread(trace_id).header.request)
        return await self._run(self.store.fork(trace_id, before_step, header), progress)

    async def _finish(self, record: RunRecord, progress: ProgressSink) -> ResearchResult:
        if record.result is not None:
            record.close()
            return record.result
        return await self._run(record, progress)

    async def _run(self, record: RunRecord, progress: ProgressSink) -> ResearchResult:
        header = record.header
        request = header.request

        async def work() -> ResearchResult:
            early_failure = record.failure
            await _warn_of(early_failure, record, progress)
            result = record.finish(await self.investigate(request, record, progress))
            await _warn_of("" if early_failure else record.failure, record, progress)
            return result

        with trace_context(record.trace_id):
            log_event("run begins", researcher=header.researcher, model=header.model_id, question=request.question)
            try:
                return await timed("run ends", work, _summary)
            except TraceHeld:
                # The other process has written to it since: it is not ours to delete.
                raise
            except InvalidInput:
                record.discard()
                raise
            finally:
                record.close()

    async def _open_record(self, trace_id: str, request: ResearchRequest) -> RunRecord:
        """Wait until no other process writes this trace, then open or create it."""
        with anyio.move_on_after(LOCK_TIMEOUT_SEC):
            while True:
                try:
                    return self.store.open_or_begin(trace_id, self.header(request))
                except TraceHeld:
                    await anyio.sleep(_LOCK_POLL_SEC)
        raise TraceHeld(f"trace {trace_id} is still being written by another process")


async def _warn_of(failure: str, record: RunRecord, progress: ProgressSink) -> None:
    if failure:
        warning = f"the trace cannot be written ({failure}); this run cannot be verified later"
        await progress(Progress(record.trace_id, WARNING, warning))


def _summary(result: ResearchResult) -> Mapping[str, object]:
    cost = result.cost_metadata
    return {
        "confidence": result.confidence,
        "citations": len(result.citations),
        "gaps": len(result.gaps),
        "tokens": cost.tokens_used,
        "iterations": cost.iterations_run,
    }
