"""Call a mind within the budget, with the extractive mind as the fallback.

The cost of a call is charged before its result is used. Does not know sources.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

import anyio

from marchwarden.core.budget import Allowance, Budget
from marchwarden.core.notebook import Draft, Notebook, Plan, Reading, Thought
from marchwarden.errors import MindError, SourceError, TooLittleLeft
from marchwarden.protocols import Mind
from marchwarden.storage.record import RunRecord, ThinkAction, ThinkStep

Value = TypeVar("Value", Plan, Reading, Draft)
MindCall = Callable[[Mind, Allowance], Awaitable[Thought[Value]]]


@dataclass
class MindCalls:
    """The mind of one run and its fallback. `failures` lists failed calls."""

    mind: Mind
    fallback: Mind
    budget: Budget
    record: RunRecord
    notebook: Notebook
    failures: list[SourceError] = field(default_factory=list)

    async def think(self, action: ThinkAction, kind: type[Value], ask: MindCall[Value], why: str) -> Value | None:
        """Call the mind, then the fallback if it fails. Returns None if both fail."""
        for mind in [self.mind] if self.mind is self.fallback else [self.mind, self.fallback]:
            left = self.budget.left_to_conclude() if action == "conclude" else self.budget.left()
            step = ThinkStep(
                action,
                self.budget.iterations_run,
                mind.model_id,
                is_fallback=mind is not self.mind,
                numbering=self.notebook.numbering,
            )
            try:
                thought = await self.record.think(step, kind, self._with_timeout(ask, mind, left, action), why)
            except MindError as error:
                self._charge(error.tokens, left, action)
                if isinstance(error, TooLittleLeft):
                    self.budget.run_short(f"not enough budget left for {mind.model_id} to {action}: {error.detail}")
                self.failures.append(SourceError(f"{mind.model_id} failed to {action}: {error.detail}"))
                continue
            self._charge(thought.tokens, left, action)
            return thought.value
        return None

    def _charge(self, tokens: int, left: Allowance, action: ThinkAction) -> None:
        self.budget.at(self.record.elapsed)
        self.budget.charge(tokens, left, f"the model ({action})")

    def _with_timeout(
        self, ask: MindCall[Value], mind: Mind, left: Allowance, action: ThinkAction
    ) -> Callable[[], Awaitable[Thought[Value]]]:
        """Add a time limit, except to the fallback's conclusion: it is local, and every run must return a result."""

        async def perform() -> Thought[Value]:
            if mind is self.fallback and action == "conclude":
                return await ask(mind, left)
            try:
                with anyio.fail_after(left.seconds):
                    return await ask(mind, left)
            except TimeoutError as error:
                # The real cost is unknown, so charge the maximum.
                raise MindError(f"no answer within {left.seconds:.0f} s", left.tokens) from error

        return perform
