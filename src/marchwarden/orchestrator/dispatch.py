"""Dispatching: errands sent to their researchers side by side, each within its grant, its time, and the record.

Whatever a researcher does, the others go on: one that dies, hangs or breaks the contract has given no answer.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol
from uuid import UUID, uuid5

import anyio

from marchwarden import contract
from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import ArchiveDamaged, InvalidInput, MarchwardenError, NoAnswer, ReplayDiverged
from marchwarden.orchestrator.shared_budget import Grant, constraints_of
from marchwarden.orchestrator.task_queue import Assignment
from marchwarden.protocols import Progress, ProgressSink, Resumable
from marchwarden.storage.record import RunRecord

SETTLED: Final = 0.98
"""A result this sure, with independent sources, settles a round: whoever has not answered by then is not needed."""
SETTLED_BY: Final = 2
SHARE_OF_TIME: Final = 0.9
"""Of what is left, for the researchers; the rest is for bringing together what they found."""
LAST_CALL: Final = 0.97


@dataclass(frozen=True)
class SentAssignment:
    """One errand on its way: its place in the log, what it may spend and what it is told."""

    number: int
    errand: Assignment
    grant: Grant
    context: str | None


@dataclass
class DispatchOutcome:
    """What came of it: a result, or why there is none. `booked` is what was paid for it."""

    sent: SentAssignment
    result: ResearchResult | None = None
    error: NoAnswer | None = None
    booked: int = 0
    settled_by: str = ""
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    @property
    def tokens(self) -> int:
        if self.result is not None:
            return self.result.cost_metadata.tokens_used
        return self.error.tokens if self.error else 0

    def told(self) -> contract.Dispatch:
        """As the result of the whole tells it."""
        errand = self.sent.errand
        asked = contract.Dispatch(
            researcher=errand.member.name,
            question=errand.question,
            reason=errand.reason,
            outcome=f"no answer: {self.error.detail if self.error else ''}",
            tokens_used=self.booked,
        )
        if self.result is None:
            return asked
        found = f"{len(self.result.citations)} citations, {len(self.result.gaps)} gaps"
        ended = {"outcome": found, "trace_id": self.result.trace_id, "confidence": self.result.confidence}
        return asked.model_copy(update=ended)


@dataclass
class DispatchRound:
    """Some errands at once. The results stand in the order they were sent, whatever order they arrive in."""

    request: ResearchRequest
    record: RunRecord
    progress: ProgressSink
    seconds: float
    perform: "Perform | None" = None
    _under_way: list[DispatchOutcome] = field(default_factory=list)
    _diverged: ReplayDiverged | None = None

    async def run(self, errands: Sequence[SentAssignment]) -> list[DispatchOutcome]:
        self._under_way = [DispatchOutcome(sent) for sent in errands]
        async with anyio.create_task_group() as group:
            for each in self._under_way:
                group.start_soon(self._run_one, each)
        if self._diverged:
            raise self._diverged
        return self._under_way

    async def _run_one(self, returned: DispatchOutcome) -> None:
        sent = returned.sent
        about = {
            "researcher": sent.errand.member.name,
            "question": sent.errand.question,
            "tokens_granted": sent.grant.tokens,
        }
        try:
            returned.result = await self.record.dispatch(
                sent.number, about, lambda: (self.perform or self._perform)(returned), sent.errand.reason
            )
        except NoAnswer as error:
            returned.error = error
        except ArchiveDamaged as error:
            returned.error = NoAnswer(f"its answer is lost: {error}", sent.grant.tokens)
        except ReplayDiverged as error:
            # Raised here it would reach the caller in a group, which nobody who waits for this error looks into.
            self._diverged = error
        else:
            if settles(returned.result):
                self._call_off(sent)

    def _call_off(self, settled: SentAssignment) -> None:
        """Those who were asked the same may stop; all of them, once the question of the whole is settled."""
        for other in self._under_way:
            if settled.errand.question in {other.sent.errand.question, self.request.question}:
                other.settled_by = other.settled_by or settled.errand.member.name
                other.scope.cancel()

    def told(self, sent: SentAssignment) -> ResearchRequest:
        """What a researcher is asked, within its grant."""
        limits = constraints_of(sent.grant, self.request.limits(), self.seconds * SHARE_OF_TIME)
        return ResearchRequest(
            question=sent.errand.question, context=sent.context, depth=self.request.depth, constraints=limits
        )

    async def _perform(self, returned: DispatchOutcome) -> ResearchResult:
        sent, scope = returned.sent, returned.scope
        heard = _Heard(sent, self.record, self.progress)
        result: ResearchResult | None = None
        scope.deadline = anyio.current_time() + self.seconds * LAST_CALL
        with scope:
            result = await _asked(sent, self.told(sent), heard)
        if result is None:
            # What it had spent by then nobody can say: it is taken to be all it might.
            if returned.settled_by:
                settled = f"no longer needed: {returned.settled_by} had settled it"
                raise NoAnswer(settled, sent.grant.tokens, called_off=True)
            raise NoAnswer("no answer before the time was over", sent.grant.tokens)
        return within_grant(sent, result)


Perform = Callable[[DispatchOutcome], Awaitable[ResearchResult]]
"""Has one errand run. Raises `NoAnswer` where nothing comes of it."""


class DispatchStrategy(Protocol):
    """How a round is sent: side by side in this process, or by whoever runs this."""

    async def __call__(self, round_: DispatchRound, errands: Sequence[SentAssignment]) -> list[DispatchOutcome]: ...


async def dispatch_in_process(round_: DispatchRound, errands: Sequence[SentAssignment]) -> list[DispatchOutcome]:
    return await round_.run(errands)


def within_grant(sent: SentAssignment, result: ResearchResult) -> ResearchResult:
    """The result, unless it cost more than it might."""
    if result.cost_metadata.tokens_used > sent.grant.tokens:
        spent = f"it spent {result.cost_metadata.tokens_used} tokens of the {sent.grant.tokens} it was given"
        raise NoAnswer(f"its answer was refused: {spent}", result.cost_metadata.tokens_used)
    return result


def settles(result: ResearchResult) -> bool:
    factors = result.confidence_factors
    return result.confidence >= SETTLED and factors.num_corroborating_sources >= SETTLED_BY


async def _asked(sent: SentAssignment, told: ResearchRequest, heard: "_Heard") -> ResearchResult:
    asked = sent.errand.member.researcher
    try:
        if isinstance(asked, Resumable):
            return await asked.take_up(heard.run(), told, progress=heard)
        return await asked.research(told.question, told.context, told.depth, told.constraints, progress=heard)
    except InvalidInput as error:
        raise NoAnswer(f"it refused the question: {error}", heard.tokens) from error
    except MarchwardenError as error:
        raise NoAnswer(str(error), heard.tokens) from error


@dataclass
class _Heard:
    """Passes on the signs of life of one researcher, and remembers whether it ever gave one, and of which run."""

    sent: SentAssignment
    record: RunRecord
    sink: ProgressSink
    is_alive: bool = False

    def run(self) -> str:
        """The run this errand is: known before it begins, so that whoever comes after goes on with it."""
        return self.record.sent(self.sent.number, run_of(self.record.trace_id, self.sent.number))

    @property
    def tokens(self) -> int:
        """What it may have spent: nothing before it began, and nobody knows how much after that."""
        return self.sent.grant.tokens if self.is_alive else 0

    async def __call__(self, progress: Progress) -> None:
        if not self.is_alive:
            self.is_alive = True
            # One that names its runs itself says so with its first sign of life.
            self.record.sent(self.sent.number, progress.trace_id)
        step = f"{self.sent.errand.member.name} {progress.step}"
        await self.sink(replace(progress, step=step, trace_id=self.record.trace_id))


def run_of(trace_id: str, number: int) -> str:
    """The id of the run that a dispatch of another leads to; the same whenever it is asked for."""
    return str(uuid5(UUID(trace_id), f"dispatch {number}"))
