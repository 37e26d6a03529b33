"""Runs: research under way, apart from whoever waits for it. The same question joins; what nobody wants any more stops.

A run that was cut short is gone on with when somebody asks again. Knows no MCP and no transport.
"""

import hashlib
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import Busy, InvalidInput, MalformedTrace, MarchwardenError, StorageError
from marchwarden.protocols import Progress, Researcher, Resumable
from marchwarden.recorded import Recorded
from marchwarden.wire.callers import Caller
from marchwarden.wire.gate import Place
from marchwarden.wire.ledger import Entry, Ledger
from marchwarden.wire.outcome import Outcome
from marchwarden.wire.service import Service
from marchwarden.wire.spans import Spans

log: Final = logging.getLogger(__name__)

MOST_WAITING: Final = 100
"""Signs of life kept for one who listens slowly; further ones are lost to it."""
UNEXPECTED: Final = "the researcher failed unexpectedly; the log of its server says why"
CANCELLED: Final = Outcome("cancelled", "the call was cancelled; asked again, it goes on where it stopped")
STOPPED: Final = Outcome("stopped", "the server is stopping; asked again, the run goes on where it stopped")


@dataclass(eq=False)
class Run:
    """One question on its way to an outcome, and everybody who listens.

    `known` is the earlier run it stands for or goes on with. `wanted` counts who has not given it up. Of the `tokens`
    it took so far, `booked` ones are paid for.
    """

    key: str
    caller: Caller
    request: ResearchRequest
    trace_id: str = ""
    entry: int | None = None
    known: Entry | None = None
    wanted: int = 0
    booked: int = 0
    tokens: int = 0
    latest: Progress | None = None
    outcome: Outcome | None = None
    accepted: anyio.Event = field(default_factory=anyio.Event)
    over: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    listeners: set[MemoryObjectSendStream[Progress]] = field(default_factory=set)

    @contextmanager
    def listening(self) -> Iterator[MemoryObjectReceiveStream[Progress]]:
        """Its signs of life from the latest on, until it is over."""
        sent, heard = anyio.create_memory_object_stream[Progress](MOST_WAITING)
        with sent, heard:
            if self.latest is not None:
                sent.send_nowait(self.latest)
            self.listeners.add(sent)
            if self.over.is_set():
                sent.close()
            try:
                yield heard
            finally:
                self.listeners.discard(sent)

    def follow(self, known: Entry) -> None:
        self.known, self.entry, self.trace_id, self.booked = known, known.id, known.trace_id, known.booked

    def tell(self, progress: Progress) -> None:
        self.latest = progress
        self.tokens = max(self.tokens, progress.tokens_used)
        for sent in self.listeners:
            try:
                sent.send_nowait(progress)
            except anyio.WouldBlock:
                continue  # it reads too slowly: a sign of life may be lost, an outcome may not

    def end(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.accepted.set()
        self.over.set()
        for sent in self.listeners:
            sent.close()


class Runs:
    """All runs of one server."""

    def __init__(self, researcher: Researcher, service: Service, ledger: Ledger, tasks: TaskGroup) -> None:
        self._researcher = researcher
        # Asked once: whether an object keeps a protocol costs more to find out than a call costs otherwise.
        self._resumable = researcher if isinstance(researcher, Resumable) else None
        self._recorded = researcher if isinstance(researcher, Recorded) else None
        self._spans = Spans()
        self._service = service
        self._ledger = ledger
        self._tasks = tasks
        self._under_way: dict[str, Run] = {}
        self._stopping = False

    def join(self, caller: Caller, request: ResearchRequest) -> Run:
        """The run of this question that is under way, else one that begins now. Whoever joins must `leave` or stay."""
        if caller.tokens_per_call is not None and request.limits().token_budget > caller.tokens_per_call:
            raise InvalidInput(f"constraints.token_budget may be at most {caller.tokens_per_call} for {caller.name}")
        key = self._key(caller, request)
        before = self._under_way.get(key)
        if before is not None and not before.scope.cancel_called:
            before.wanted += 1
            return before
        run = Run(key, caller, request, wanted=1)
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

    def under_way(self, entry: Entry) -> Run | None:
        run = self._under_way.get(entry.key)
        return run if run is not None and run.entry == entry.id else None

    def revive(self, caller: Caller, entry: Entry) -> Run:
        """Go on with a run that ended with an earlier process."""
        run = self.join(caller, ResearchRequest.model_validate_json(entry.request))
        if not run.accepted.is_set() and entry.trace_id:
            run.follow(entry)
        return run

    def leave(self, run: Run) -> None:
        """Give the run up. What nobody else wants is stopped; what it has done stays in its trace."""
        run.wanted -= 1
        if run.wanted <= 0:
            run.scope.cancel()

    def note(self, run: Run) -> int:
        """The run's place in the ledger. Raises `StorageError` where it cannot be noted."""
        if run.entry is None:
            run.entry = self._ledger.begin(
                run.key, run.caller.name, run.request.model_dump_json(exclude_unset=True), run.trace_id
            )
        return run.entry

    async def _pursue(self, run: Run, before: Run | None) -> None:
        began, outcome = anyio.current_time(), STOPPED
        try:
            with run.scope:
                if before is not None:
                    await before.over.wait()
                outcome = await self._outcome(run)
            if run.scope.cancelled_caught:
                outcome = STOPPED if self._stopping else CANCELLED
        finally:
            self._note_end(run, outcome)
            run.end(outcome)
            if self._under_way.get(run.key) is run:
                del self._under_way[run.key]
            self._service.meter.observe(anyio.current_time() - began)

    async def _outcome(self, run: Run) -> Outcome:
        meter = self._service.meter
        try:
            self._look_back(run)
            if run.known is not None and run.known.outcome is not None:
                meter.count("runs_total", client=run.caller.name, kind="recalled")
                return Outcome.recalled(run.known.outcome)
            self._refuse_beyond_today(run)
            place = self._service.gate.take(run.caller)
        except Busy as error:
            return Outcome("busy", str(error), error.seconds)
        except StorageError as error:
            return Outcome("failed", str(error))
        meter.count("runs_total", client=run.caller.name, kind="resumed" if run.known else "new")
        return await self._investigated(run, place)

    async def _investigated(self, run: Run, place: Place) -> Outcome:
        try:
            run.trace_id = run.trace_id or (str(uuid4()) if self._resumable else "")
            if run.trace_id:
                self._noted(run)
            run.accepted.set()
            if not place.open.is_set():
                self._tell_waiting(run)
                await place.open.wait()
            with self._spans.run(run.caller.name, run.request) as span:
                result = await self._research(run)
                run.tokens = result.cost_metadata.tokens_used
                span.answered(result)
            return Outcome.answered(result)
        except InvalidInput as error:
            return Outcome("invalid_input", str(error))
        except MarchwardenError as error:
            return Outcome("failed", str(error))
        except Exception:
            # Whatever it is, it must not end the other runs, and its text stays in the server's log.
            log.exception("a research call failed unexpectedly")
            return Outcome("crashed", UNEXPECTED)
        finally:
            self._service.gate.leave(place)

    async def _research(self, run: Run) -> ResearchResult:
        async def hear(progress: Progress) -> None:
            if not run.trace_id:
                run.trace_id = progress.trace_id
                self._noted(run)
            run.tell(progress)

        asked = run.request
        if self._resumable is not None:
            try:
                return await self._resumable.take_up(run.trace_id, asked, progress=hear)
            except MalformedTrace:
                log.warning("run %s cannot be gone on with; it is begun anew", run.trace_id)
                run.trace_id = str(uuid4())
                self._identify(run)
                return await self._resumable.take_up(run.trace_id, asked, progress=hear)
        return await self._researcher.research(
            asked.question, asked.context, asked.depth, asked.constraints, progress=hear
        )

    def _look_back(self, run: Run) -> None:
        """Find the earlier run of this question that can stand for it or be gone on with."""
        if run.known is not None:
            return
        known = self._ledger.latest(run.key, self._service.terms.join_window)
        if known is not None and _is_worth_keeping(known):
            run.follow(known)

    def _refuse_beyond_today(self, run: Run) -> None:
        """What a call may cost must fit what its caller has left today; what others of its calls may cost counts."""
        most, name = run.caller.tokens_per_day, run.caller.name
        if most is None:
            return
        others = [each for each in self._under_way.values() if each is not run and each.caller.name == name]
        granted = sum(each.request.limits().token_budget for each in others if each.accepted.is_set())
        spent = self._ledger.spent(name, _today())
        if spent + granted + run.request.limits().token_budget > most:
            told = f"{name} has {max(most - spent - granted, 0)} of its {most} tokens left today"
            raise Busy(told, _seconds_of_today_left())

    def _tell_waiting(self, run: Run) -> None:
        if run.trace_id:
            ahead = self._service.gate.waiting
            run.tell(Progress(run.trace_id, "wait", f"one of {ahead} waiting for a place"))

    def _noted(self, run: Run) -> None:
        """A run goes on where the disk refuses; it only cannot be found again after a restart."""
        try:
            if run.entry is None:
                self.note(run)
            else:
                self._ledger.identify(run.entry, run.trace_id)
        except StorageError:
            log.exception("a run could not be noted")

    def _identify(self, run: Run) -> None:
        run.booked = 0
        self._noted(run)

    def _note_end(self, run: Run, outcome: Outcome) -> None:
        name, fresh = run.caller.name, max(run.tokens - run.booked, 0)
        run.booked += fresh
        try:
            if fresh:
                self._service.meter.count("tokens_total", fresh, client=name)
            if fresh and run.caller.tokens_per_day is not None:
                self._ledger.spend(name, _today(), fresh)
            stands = run.known is not None and run.known.outcome is not None  # its time counts from its own end
            if run.entry is not None and outcome.ending != "busy" and not stands:
                self._ledger.end(run.entry, run.booked, outcome.kept() if outcome.is_final else None)
                self._ledger.prune_sometimes(self._service.terms.join_window)
        except StorageError:
            log.exception("the end of a run could not be noted")

    def _key(self, caller: Caller, request: ResearchRequest) -> str:
        """The same for two calls that would do the same: question, context, depth, limits, and how this researcher
        would go about it. Callers never join each other.
        """
        told = self._recorded.opening(request).fields("") if self._recorded else {}
        how = {name: value for name, value in told.items() if name != "request"}
        what = [caller.name, request.question, request.context, request.depth, request.limits().model_dump(), how]
        return hashlib.sha256(json.dumps(what, sort_keys=True, default=str).encode()).hexdigest()


def _is_worth_keeping(known: Entry) -> bool:
    """An answer that cites something stands for a while; nothing found, or a failure, may be different next time."""
    if known.outcome is None:
        return bool(known.trace_id)
    result = Outcome.recalled(known.outcome).result
    return result is not None and bool(result.citations)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _seconds_of_today_left() -> int:
    now = datetime.now(UTC)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return max(1, round((midnight - now).total_seconds()))
