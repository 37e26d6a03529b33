"""Runs: research under way, apart from whoever waits for it. The same question joins; what nobody wants any more stops.

A run that was cut short is gone on with when somebody asks again. Knows no MCP and no transport.
"""

import hashlib
import json
import logging
from typing import Final
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup

from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import Busy, InvalidInput, MalformedTrace, MarchwardenError, StorageError
from marchwarden.loop.recorded import RecordedResearcher
from marchwarden.mcp.call_store import StoredRun
from marchwarden.mcp.clients import ServiceClient
from marchwarden.mcp.fair_queue import QueueTicket
from marchwarden.mcp.outcome import CallOutcome
from marchwarden.mcp.run import SharedRun
from marchwarden.mcp.service import Service
from marchwarden.mcp.spans import Spans
from marchwarden.mcp.usage import UsageTracker
from marchwarden.protocols import Progress, Researcher, Resumable, send_request

log: Final = logging.getLogger(__name__)

UNEXPECTED: Final = "the researcher failed unexpectedly; the log of its server says why"
CANCELLED: Final = CallOutcome("cancelled", "the call was cancelled; asked again, it goes on where it stopped")
STOPPED: Final = CallOutcome("stopped", "the server is stopping; asked again, the run goes on where it stopped")


class RunPool:
    """All runs of one server."""

    def __init__(self, researcher: Researcher, service: Service, books: UsageTracker, tasks: TaskGroup) -> None:
        self._researcher = researcher
        # Asked once: whether an object keeps a protocol costs more to find out than a call costs otherwise.
        self._resumable = researcher if isinstance(researcher, Resumable) else None
        self._recorded = researcher if isinstance(researcher, RecordedResearcher) else None
        self._spans = Spans()
        self._service = service
        self._books = books
        self._tasks = tasks
        self._under_way: dict[str, SharedRun] = {}
        self._stopping = False

    def join(self, caller: ServiceClient, request: ResearchRequest) -> SharedRun:
        """The run of this question that is under way, else one that begins now. Whoever joins must `leave` or stay."""
        if caller.tokens_per_call is not None and request.limits().token_budget > caller.tokens_per_call:
            raise InvalidInput(f"constraints.token_budget may be at most {caller.tokens_per_call} for {caller.name}")
        key = self._key(caller, request)
        before = self._under_way.get(key)
        if before is not None and not before.scope.cancel_called:
            before.wanted += 1
            return before
        run = SharedRun(key, caller, request, wanted=1)
        self._under_way[key] = run
        self._tasks.start_soon(self._pursue, run, before)
        return run

    def stop(self) -> None:
        """End all runs; whoever waits for one is told, and can go on with it later."""
        self._stopping = True
        for run in self._under_way.values():
            run.scope.cancel()

    async def idle(self) -> None:
        """Wait until none is under way."""
        while self._under_way:
            await next(iter(self._under_way.values())).over.wait()

    def under_way(self, entry: StoredRun) -> SharedRun | None:
        run = self._under_way.get(entry.key)
        return run if run is not None and run.entry == entry.id else None

    def revive(self, caller: ServiceClient, entry: StoredRun) -> SharedRun:
        """Go on with a run that ended with an earlier process."""
        run = self.join(caller, ResearchRequest.model_validate_json(entry.request))
        if not run.accepted.is_set() and entry.trace_id:
            run.follow(entry)
        return run

    def leave(self, run: SharedRun) -> None:
        """Give the run up. What nobody else wants is stopped; what it has done stays in its trace."""
        run.wanted -= 1
        if run.wanted <= 0:
            run.scope.cancel()

    async def _pursue(self, run: SharedRun, before: SharedRun | None) -> None:
        began, outcome = anyio.current_time(), STOPPED
        try:
            with run.scope:
                if before is not None:
                    await before.over.wait()
                outcome = await self._outcome(run)
            if run.scope.cancelled_caught:
                outcome = STOPPED if self._stopping else CANCELLED
        finally:
            self._books.end(run, outcome)
            run.end(outcome)
            if self._under_way.get(run.key) is run:
                del self._under_way[run.key]
            self._service.meter.observe(anyio.current_time() - began)

    async def _outcome(self, run: SharedRun) -> CallOutcome:
        try:
            self._books.look_back(run)
            if run.known is not None and run.known.outcome is not None:
                self._count(run, "recalled")
                return CallOutcome.recalled(run.known.outcome)
            self._books.refuse_beyond_today(run, self._under_way.values())
            place = self._service.gate.take(run.caller)
        except Busy as error:
            return CallOutcome("busy", str(error), error.seconds)
        except StorageError as error:
            return CallOutcome("failed", str(error))
        self._count(run, "resumed" if run.known else "new")
        try:
            return await self._investigated(run, place)
        finally:
            self._service.gate.leave(place)

    async def _investigated(self, run: SharedRun, place: QueueTicket) -> CallOutcome:
        """What the researcher finds, once there is a place. Whatever goes wrong must not end the other runs."""
        try:
            self._accept(run)
            if not place.open.is_set():
                self._tell_waiting(run)
                await place.open.wait()
            with self._spans.run(run.caller.name, run.request) as span:
                result = await self._research(run)
                run.tokens = result.cost_metadata.tokens_used
                span.answered(result)
            return CallOutcome.answered(result)
        except InvalidInput as error:
            return CallOutcome("invalid_input", str(error))
        except MarchwardenError as error:
            return CallOutcome("failed", str(error))
        except Exception:
            log.exception("a research call failed unexpectedly")
            return CallOutcome("crashed", UNEXPECTED)

    def _accept(self, run: SharedRun) -> None:
        """From here on it can be promised: a run that can be gone on with is noted before it begins."""
        if self._resumable and not run.trace_id:
            run.trace_id = str(uuid4())
        if run.trace_id:
            self._books.begin(run)
        run.accepted.set()

    async def _research(self, run: SharedRun) -> ResearchResult:
        async def hear(progress: Progress) -> None:
            if not run.trace_id:
                run.trace_id = progress.trace_id
                self._books.begin(run)
            run.tell(progress)

        if self._resumable is None:
            return await send_request(self._researcher, run.request, progress=hear)
        try:
            return await self._resumable.run_request(run.request, run.trace_id, progress=hear)
        except MalformedTrace:
            log.warning("run %s cannot be gone on with; it is begun anew", run.trace_id)
            run.trace_id, run.booked = str(uuid4()), 0
            self._books.begin(run)
            return await self._resumable.run_request(run.request, run.trace_id, progress=hear)

    def _tell_waiting(self, run: SharedRun) -> None:
        if run.trace_id:
            ahead = self._service.gate.waiting
            run.tell(Progress(run.trace_id, "wait", f"one of {ahead} waiting for a place"))

    def _count(self, run: SharedRun, kind: str) -> None:
        self._service.meter.count("runs_total", client=run.caller.name, kind=kind)

    def _key(self, caller: ServiceClient, request: ResearchRequest) -> str:
        """The same for two calls that would do the same: question, context, depth, limits, and how this researcher
        would go about it. Callers never join each other.
        """
        told = self._recorded.header(request).fields("") if self._recorded else {}
        how = {name: value for name, value in told.items() if name != "request"}
        what = [caller.name, request.question, request.context, request.depth, request.limits().model_dump(), how]
        return hashlib.sha256(json.dumps(what, sort_keys=True, default=str).encode()).hexdigest()
