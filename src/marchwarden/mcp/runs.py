"""Manage runs independently of the clients that wait for them.

Equal requests of one client share a run. A run that no client waits for is cancelled. A run that was interrupted
continues when the same request comes again. Does not know MCP or a transport.
"""

import hashlib
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import Busy, InvalidInput, MalformedTrace, MarchwardenError, StorageError, TraceHeld
from marchwarden.loop.recorded import LOCK_TIMEOUT_SEC, RecordedResearcher
from marchwarden.mcp.call_store import StoredRun
from marchwarden.mcp.clients import ServiceClient
from marchwarden.mcp.fair_queue import QueueTicket
from marchwarden.mcp.outcome import CallOutcome
from marchwarden.mcp.service import Service
from marchwarden.mcp.spans import RunTracer
from marchwarden.mcp.usage import UsageTracker
from marchwarden.protocols import Progress, Researcher, Resumable, send_request

log: Final = logging.getLogger(__name__)

UNEXPECTED: Final = "the researcher failed unexpectedly; see the log of its server"
CANCELLED: Final = CallOutcome("cancelled", "the call was cancelled; send the same request again to continue it")
STOPPED: Final = CallOutcome("stopped", "the server is stopping; send the same request again to continue the run")
MAX_PENDING_UPDATES: Final = 100
"""Progress updates kept for a subscriber that reads slowly. Further updates are dropped."""


@dataclass(eq=False)
class SharedRun:
    """One run and its subscribers.

    `stored_id` is its row in the call store. `earlier` is the stored run that it continues or whose outcome it returns.
    `waiting` counts the clients that have not cancelled it. `tokens_charged` of its `tokens_used` are already charged.
    """

    key: str
    client: ServiceClient
    request: ResearchRequest
    trace_id: str = ""
    stored_id: int | None = None
    earlier: StoredRun | None = None
    waiting: int = 0
    tokens_charged: int = 0
    tokens_used: int = 0
    latest: Progress | None = None
    outcome: CallOutcome | None = None
    accepted: anyio.Event = field(default_factory=anyio.Event)
    finished: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    subscribers: set[MemoryObjectSendStream[Progress]] = field(default_factory=set)

    @contextmanager
    def subscribe(self) -> Iterator[MemoryObjectReceiveStream[Progress]]:
        """Receive its progress, beginning with the latest update, until it has finished."""
        sent, updates = anyio.create_memory_object_stream[Progress](MAX_PENDING_UPDATES)
        with sent, updates:
            if self.latest is not None:
                sent.send_nowait(self.latest)
            self.subscribers.add(sent)
            if self.finished.is_set():
                sent.close()
            try:
                yield updates
            finally:
                self.subscribers.discard(sent)

    @property
    def stored_outcome(self) -> str | None:
        """The outcome of the earlier run, if it has finished."""
        return self.earlier.outcome if self.earlier is not None else None

    def continue_from(self, earlier: StoredRun) -> None:
        self.earlier, self.stored_id = earlier, earlier.id
        self.trace_id, self.tokens_charged = earlier.trace_id, earlier.booked

    def publish(self, progress: Progress) -> None:
        self.latest = progress
        self.tokens_used = max(self.tokens_used, progress.tokens_used)
        for subscriber in self.subscribers:
            try:
                subscriber.send_nowait(progress)
            except anyio.WouldBlock:
                continue  # The subscriber reads too slowly. Progress may be dropped, the outcome may not.

    def finish(self, outcome: CallOutcome) -> None:
        self.outcome = outcome
        self.accepted.set()
        self.finished.set()
        for subscriber in self.subscribers:
            subscriber.close()


class RunPool:
    """All runs of one server."""

    def __init__(self, researcher: Researcher, service: Service, usage: UsageTracker, tasks: TaskGroup) -> None:
        self._researcher = researcher
        # Checked once: `isinstance` with a protocol takes longer than the rest of a call.
        self._resumable = researcher if isinstance(researcher, Resumable) else None
        self._recorded = researcher if isinstance(researcher, RecordedResearcher) else None
        self._tracer = RunTracer()
        self._service = service
        self._usage = usage
        self._tasks = tasks
        self._active: dict[str, SharedRun] = {}
        self._is_stopping = False

    def join(self, client: ServiceClient, request: ResearchRequest) -> SharedRun:
        """Return the active run of this request, or start one. Call `leave` to cancel."""
        if client.tokens_per_call is not None and request.limits().token_budget > client.tokens_per_call:
            raise InvalidInput(f"constraints.token_budget may be at most {client.tokens_per_call} for {client.name}")
        key = self._key(client, request)
        active = self._active.get(key)
        if active is not None and not active.scope.cancel_called:
            active.waiting += 1
            return active
        run = SharedRun(key, client, request, waiting=1)
        self._active[key] = run
        self._tasks.start_soon(self._run, run, active)
        return run

    def leave(self, run: SharedRun) -> None:
        """Stop waiting for the run. If no other client waits, it is cancelled; its trace stays."""
        run.waiting -= 1
        if run.waiting <= 0:
            run.scope.cancel()

    def resume(self, client: ServiceClient, stored: StoredRun) -> SharedRun:
        """Continue a run that an earlier server process started."""
        run = self.join(client, ResearchRequest.model_validate_json(stored.request))
        if not run.accepted.is_set() and stored.trace_id:
            run.continue_from(stored)
        return run

    def find_active(self, stored: StoredRun) -> SharedRun | None:
        run = self._active.get(stored.key)
        return run if run is not None and run.stored_id == stored.id else None

    def stop(self) -> None:
        """Cancel all runs. Their clients get `STOPPED` and can continue them later."""
        self._is_stopping = True
        for run in self._active.values():
            run.scope.cancel()

    async def wait_until_idle(self) -> None:
        while self._active:
            await next(iter(self._active.values())).finished.wait()

    async def _run(self, run: SharedRun, cancelled: SharedRun | None) -> None:
        """Produce the outcome of a run. First wait for a cancelled run of the same request to end."""
        began, outcome = anyio.current_time(), STOPPED
        try:
            with run.scope:
                if cancelled is not None:
                    await cancelled.finished.wait()
                outcome = await self._find_or_produce_outcome(run)
            if run.scope.cancelled_caught:
                outcome = STOPPED if self._is_stopping else CANCELLED
        finally:
            self._usage.record_end(run, outcome)
            run.finish(outcome)
            if self._active.get(run.key) is run:
                del self._active[run.key]
            self._service.metrics.observe_run(anyio.current_time() - began)

    async def _find_or_produce_outcome(self, run: SharedRun) -> CallOutcome:
        try:
            self._usage.find_earlier_run(run)
            if run.stored_outcome is not None:
                self._count(run, "recalled")
                return CallOutcome.from_json(run.stored_outcome)
            self._usage.check_daily_limit(run, self._active.values())
            ticket = self._service.queue.enter(run.client)
        except Busy as error:
            return CallOutcome("busy", str(error), error.seconds)
        except StorageError as error:
            return CallOutcome("failed", str(error))
        self._count(run, "resumed" if run.earlier else "new")
        try:
            return await self._produce_outcome(run, ticket)
        finally:
            self._service.queue.leave(ticket)

    async def _produce_outcome(self, run: SharedRun, ticket: QueueTicket) -> CallOutcome:
        """Wait in the queue, then research. No error may affect the other runs."""
        try:
            self._accept(run)
            if not ticket.admitted.is_set():
                self._report_waiting(run)
                await ticket.admitted.wait()
            with self._tracer.trace_run(run.client.name, run.request) as span:
                result = await self._research(run)
                run.tokens_used = result.cost_metadata.tokens_used
                span.set_result(result)
            return CallOutcome.answered(result)
        except TraceHeld as error:
            # Its result answers the same request later. A second run would cost as much again.
            return CallOutcome("busy", str(error), round(LOCK_TIMEOUT_SEC))
        except InvalidInput as error:
            return CallOutcome("invalid_input", str(error))
        except MarchwardenError as error:
            return CallOutcome("failed", str(error))
        except Exception:
            log.exception("A research call failed unexpectedly")
            return CallOutcome("crashed", UNEXPECTED)

    def _accept(self, run: SharedRun) -> None:
        """Store a resumable run before it starts, so that a client can always find it again."""
        if self._resumable and not run.trace_id:
            run.trace_id = str(uuid4())
        if run.trace_id:
            self._usage.record_start(run)
        run.accepted.set()

    async def _research(self, run: SharedRun) -> ResearchResult:
        async def report(progress: Progress) -> None:
            if not run.trace_id:
                run.trace_id = progress.trace_id
                self._usage.record_start(run)
            run.publish(progress)

        if self._resumable is None:
            return await send_request(self._researcher, run.request, progress=report)
        try:
            return await self._resumable.run_request(run.request, run.trace_id, progress=report)
        except MalformedTrace:
            log.warning("Run %s cannot be resumed; starting over", run.trace_id)
            run.trace_id, run.tokens_charged = str(uuid4()), 0
            self._usage.record_start(run)
            return await self._resumable.run_request(run.request, run.trace_id, progress=report)

    def _report_waiting(self, run: SharedRun) -> None:
        if run.trace_id:
            waiting = self._service.queue.waiting
            run.publish(Progress(run.trace_id, "wait", f"in the queue ({waiting} waiting)"))

    def _count(self, run: SharedRun, kind: str) -> None:
        self._service.metrics.count("runs_total", client=run.client.name, kind=kind)

    def _key(self, client: ServiceClient, request: ResearchRequest) -> str:
        """Return a hash that is equal for calls that would do the same: client, request, limits and researcher."""
        header = self._recorded.header(request).fields("") if self._recorded else {}
        settings = {name: value for name, value in header.items() if name != "request"}
        parts = [client.name, request.question, request.context, request.depth, request.limits().model_dump(), settings]
        return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
