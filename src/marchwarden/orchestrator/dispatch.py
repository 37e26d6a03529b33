"""Send assignments to researchers in parallel, each with its own budget and time limit.

A researcher that crashes, times out, violates the contract or overspends counts as having returned nothing. The others
continue.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol
from uuid import UUID, uuid5

import anyio

from marchwarden import contract
from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import ArchiveDamaged, InvalidInput, MarchwardenError, NoAnswer, ReplayDiverged
from marchwarden.logs import log_unexpected
from marchwarden.orchestrator.roster import Member
from marchwarden.orchestrator.shared_budget import Grant, constraints_of
from marchwarden.orchestrator.task_queue import Assignment
from marchwarden.protocols import PREPARE, WARNING, Progress, ProgressSink, Resumable, send_request
from marchwarden.storage.record import RunRecord

CERTAIN: Final = 0.98
"""With this confidence and independent sources, a result cancels other dispatches of the same question."""
CERTAIN_SOURCES: Final = 2
SHARE_OF_TIME: Final = 0.9
"""Share of the time left that researchers get. The rest is for comparing and concluding."""
DEADLINE_SHARE: Final = 0.97
"""Share of the time left after which a dispatch is cancelled."""


@dataclass(frozen=True)
class SentAssignment:
    """An assignment with its number in the log, its grant and its context."""

    number: int
    assignment: Assignment
    grant: Grant
    context: str | None

    @property
    def member(self) -> Member:
        return self.assignment.member


@dataclass
class DispatchOutcome:
    """The result of a dispatch, or the error. `charged` is what it cost."""

    sent: SentAssignment
    result: ResearchResult | None = None
    error: NoAnswer | None = None
    charged: int = 0
    answered_by: str = ""
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    @property
    def tokens(self) -> int:
        if self.result is not None:
            return self.result.cost_metadata.tokens_used
        return self.error.tokens if self.error else 0

    def to_contract(self) -> contract.Dispatch:
        """Return the entry for `ResearchResult.dispatches`."""
        assignment = self.sent.assignment
        failed = contract.Dispatch(
            researcher=assignment.member.name,
            question=assignment.question,
            reason=assignment.reason,
            outcome=f"no answer: {self.error.detail if self.error else ''}",
            tokens_used=self.charged,
        )
        if self.result is None:
            return failed
        found = f"{len(self.result.citations)} citations, {len(self.result.gaps)} gaps"
        update = {"outcome": found, "trace_id": self.result.trace_id, "confidence": self.result.confidence}
        return failed.model_copy(update=update)


@dataclass
class DispatchRound:
    """Several assignments in parallel. Outcomes keep the order of the assignments."""

    request: ResearchRequest
    record: RunRecord
    progress: ProgressSink
    seconds: float
    perform: "Perform | None" = None
    _outcomes: list[DispatchOutcome] = field(default_factory=list)
    _diverged: ReplayDiverged | None = None

    async def run(self, assignments: Sequence[SentAssignment]) -> list[DispatchOutcome]:
        self._outcomes = [DispatchOutcome(sent) for sent in assignments]
        async with anyio.create_task_group() as group:
            for each in self._outcomes:
                group.start_soon(self._run_one, each)
        if self._diverged:
            raise self._diverged
        return self._outcomes

    async def _run_one(self, outcome: DispatchOutcome) -> None:
        sent = outcome.sent
        fields = {
            "researcher": sent.member.name,
            "question": sent.assignment.question,
            "tokens_granted": sent.grant.tokens,
        }
        try:
            outcome.result = await self.record.dispatch(
                sent.number, fields, lambda: (self.perform or self._perform)(outcome), sent.assignment.reason
            )
        except NoAnswer as error:
            outcome.error = error
        except ArchiveDamaged as error:
            outcome.error = NoAnswer(f"its answer was lost: {error}", sent.grant.tokens)
        except ReplayDiverged as error:
            # If raised inside the task group, it would reach the caller wrapped in an exception group.
            self._diverged = error
        else:
            if is_certain(outcome.result):
                self._cancel_others(sent)

    def _cancel_others(self, answered: SentAssignment) -> None:
        """Cancel dispatches of the same question, or all of them if the run's own question is answered."""
        for other in self._outcomes:
            if answered.assignment.question in {other.sent.assignment.question, self.request.question}:
                other.answered_by = other.answered_by or answered.member.name
                other.scope.cancel()

    def request_for(self, sent: SentAssignment) -> ResearchRequest:
        """Return the request for a researcher, limited to its grant."""
        limits = constraints_of(sent.grant, self.request.limits(), self.seconds * SHARE_OF_TIME)
        return ResearchRequest(
            question=sent.assignment.question, context=sent.context, depth=self.request.depth, constraints=limits
        )

    async def _perform(self, outcome: DispatchOutcome) -> ResearchResult:
        sent, scope = outcome.sent, outcome.scope
        relay = _ProgressRelay(sent, self.record, self.progress)
        result: ResearchResult | None = None
        scope.deadline = anyio.current_time() + self.seconds * DEADLINE_SHARE
        with scope:
            result = await _send(sent, self.request_for(sent), relay)
        if result is None:
            # The real cost is unknown, so charge the maximum.
            if outcome.answered_by:
                reason = f"no longer needed: {outcome.answered_by} already answered"
                raise NoAnswer(reason, sent.grant.tokens, called_off=True)
            raise NoAnswer("no answer before the deadline", sent.grant.tokens)
        return within_grant(sent, result)


Perform = Callable[[DispatchOutcome], Awaitable[ResearchResult]]
"""Runs one assignment. Raises `NoAnswer` if there is no result."""


class DispatchStrategy(Protocol):
    """Sends a round of assignments, in this process or on a fleet."""

    async def __call__(self, round_: DispatchRound, assignments: Sequence[SentAssignment]) -> list[DispatchOutcome]: ...


async def dispatch_in_process(round_: DispatchRound, assignments: Sequence[SentAssignment]) -> list[DispatchOutcome]:
    return await round_.run(assignments)


def within_grant(sent: SentAssignment, result: ResearchResult) -> ResearchResult:
    """Return the result, or raise `NoAnswer` if it cost more than its grant."""
    if result.cost_metadata.tokens_used > sent.grant.tokens:
        spent = result.cost_metadata.tokens_used
        raise NoAnswer(f"its answer was rejected: it used {spent} of {sent.grant.tokens} tokens", spent)
    return result


def is_certain(result: ResearchResult) -> bool:
    factors = result.confidence_factors
    return result.confidence >= CERTAIN and factors.num_corroborating_sources >= CERTAIN_SOURCES


async def _send(sent: SentAssignment, request: ResearchRequest, relay: "_ProgressRelay") -> ResearchResult:
    researcher = sent.member.researcher
    try:
        trace_id = relay.assign_run() if isinstance(researcher, Resumable) else None
        return await send_request(researcher, request, trace_id, progress=relay)
    except InvalidInput as error:
        raise NoAnswer(f"it rejected the question: {error}", relay.tokens) from error
    except ReplayDiverged:
        raise
    except MarchwardenError as error:
        raise NoAnswer(str(error), relay.tokens) from error
    except Exception as error:
        # The boundary to researchers in this process. Those behind MCP raise only our own errors.
        log_unexpected(sent.member.name, error)
        raise NoAnswer(f"an unexpected error: {type(error).__name__}", relay.tokens) from error


@dataclass
class _ProgressRelay:
    """Passes on the progress of one researcher and records the id of its run."""

    sent: SentAssignment
    record: RunRecord
    sink: ProgressSink
    is_known: bool = False
    is_started: bool = False

    def assign_run(self) -> str:
        """Record and return the preassigned run id, so that the dispatch can be resumed."""
        return self.record.assign_run(self.sent.number, run_id_for(self.record.trace_id, self.sent.number))

    @property
    def tokens(self) -> int:
        """The maximum it may have spent: 0 before it started, else its whole grant."""
        return self.sent.grant.tokens if self.is_started else 0

    async def __call__(self, progress: Progress) -> None:
        # Preparing costs nothing.
        self.is_started = self.is_started or progress.step not in {PREPARE, WARNING}
        if not self.is_known:
            self.is_known = True
            # A researcher that chooses its own run ids reports them with its progress.
            self.record.assign_run(self.sent.number, progress.trace_id)
        name = f"{self.sent.member.name} {progress.researcher}".strip()
        await self.sink(replace(progress, researcher=name, trace_id=self.record.trace_id))


def run_id_for(trace_id: str, number: int) -> str:
    """Derive the run id of a dispatch from the run that sends it. The same input gives the same id."""
    return str(uuid5(UUID(trace_id), f"dispatch {number}"))
