"""Dispatching: errands sent to their researchers side by side, each within its grant, its time, and the record.

Whatever a researcher does, the others go on: one that dies, hangs or breaks the contract has given no answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import anyio

from marchwarden.contract import Dispatch, ResearchConstraints, ResearchRequest, ResearchResult
from marchwarden.errors import InvalidInput, MarchwardenError, NoAnswer
from marchwarden.orchestrator.agenda import Errand
from marchwarden.orchestrator.purse import Grant, constraints_of
from marchwarden.protocols import Progress, ProgressSink
from marchwarden.record import Record

SETTLED: Final = 0.9
"""A result this sure, with independent sources, settles a round: whoever has not answered by then is not needed."""
SETTLED_BY: Final = 2
SHARE_OF_TIME: Final = 0.9
"""Of what is left, for the researchers; the rest is for bringing together what they found."""
LAST_CALL: Final = 0.97


@dataclass(frozen=True)
class Sent:
    """One errand on its way: its place in the log, what it may spend and what it is told."""

    number: int
    errand: Errand
    grant: Grant
    context: str | None


@dataclass
class Returned:
    """What came of it: a result, or why there is none."""

    sent: Sent
    result: ResearchResult | None = None
    error: NoAnswer | None = None

    @property
    def tokens(self) -> int:
        if self.result is not None:
            return self.result.cost_metadata.tokens_used
        return self.error.tokens if self.error else 0

    def told(self) -> Dispatch:
        """As the result of the whole tells it."""
        errand = self.sent.errand
        asked = Dispatch(
            researcher=errand.member.name,
            question=errand.question,
            reason=errand.reason,
            outcome=f"no answer: {self.error.detail if self.error else ''}",
            tokens_used=min(self.tokens, self.sent.grant.tokens),
        )
        if self.result is None:
            return asked
        found = f"{len(self.result.citations)} citations, {len(self.result.gaps)} gaps"
        ended = {"outcome": found, "trace_id": self.result.trace_id, "confidence": self.result.confidence}
        return asked.model_copy(update=ended)


@dataclass
class Round:
    """Some errands at once. The results stand in the order they were sent, whatever order they arrive in."""

    request: ResearchRequest
    record: Record
    progress: ProgressSink
    seconds: float
    _scopes: list[anyio.CancelScope] = field(default_factory=list)
    _settled_by: str = ""

    async def run(self, errands: Sequence[Sent]) -> list[Returned]:
        returned = [Returned(sent) for sent in errands]
        self._scopes = [anyio.CancelScope() for _ in errands]
        async with anyio.create_task_group() as group:
            for at in range(len(errands)):
                group.start_soon(self._run_one, returned[at], self._scopes[at])
        return returned

    async def _run_one(self, returned: Returned, scope: anyio.CancelScope) -> None:
        sent = returned.sent
        about = {
            "researcher": sent.errand.member.name,
            "question": sent.errand.question,
            "tokens_granted": sent.grant.tokens,
        }
        try:
            returned.result = await self.record.dispatch(
                sent.number, about, lambda: self._perform(sent, scope), sent.errand.reason
            )
        except NoAnswer as error:
            returned.error = error
            return
        if self._settles(returned.result) and not self._settled_by:
            self._settled_by = sent.errand.member.name
            for other in self._scopes:
                other.cancel()

    def _settles(self, result: ResearchResult) -> bool:
        factors = result.confidence_factors
        return result.confidence >= SETTLED and factors.num_corroborating_sources >= SETTLED_BY

    async def _perform(self, sent: Sent, scope: anyio.CancelScope) -> ResearchResult:
        heard = _Heard(sent, self.progress)
        limits = constraints_of(sent.grant, self.request.limits(), max(self.seconds * SHARE_OF_TIME, 1.0))
        result: ResearchResult | None = None
        scope.deadline = anyio.current_time() + max(self.seconds * LAST_CALL, 1.0)
        with scope:
            result = await _asked(sent, self.request, limits, heard)
        if result is None:
            if self._settled_by:
                raise NoAnswer(f"no longer needed: {self._settled_by} had settled it", heard.tokens, called_off=True)
            raise NoAnswer("no answer before the time was over", heard.tokens)
        if result.cost_metadata.tokens_used > sent.grant.tokens:
            spent = f"it spent {result.cost_metadata.tokens_used} tokens of the {sent.grant.tokens} it was given"
            raise NoAnswer(f"its answer was refused: {spent}", sent.grant.tokens)
        return result


async def _asked(sent: Sent, request: ResearchRequest, limits: ResearchConstraints, heard: "_Heard") -> ResearchResult:
    errand = sent.errand
    try:
        return await errand.member.researcher.research(
            errand.question, sent.context, request.depth, limits, progress=heard
        )
    except InvalidInput as error:
        raise NoAnswer(f"it refused the question: {error}", heard.tokens) from error
    except MarchwardenError as error:
        raise NoAnswer(str(error), heard.tokens) from error


@dataclass
class _Heard:
    """Passes on the signs of life of one researcher, and remembers whether it ever gave one."""

    sent: Sent
    sink: ProgressSink
    is_alive: bool = False

    @property
    def tokens(self) -> int:
        """What it may have spent: nothing before it began, and nobody knows how much after that."""
        return self.sent.grant.tokens if self.is_alive else 0

    async def __call__(self, progress: Progress) -> None:
        self.is_alive = True
        await self.sink(_renamed(progress, self.sent.errand.member.name))


def _renamed(progress: Progress, name: str) -> Progress:
    return replace(progress, step=f"{name} {progress.step}")
