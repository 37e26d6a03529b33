"""Thinking: a mind asked under an allowance, and the embedded one in its place where it fails.

What a thought costs is booked before anybody looks at it. Knows nothing of sources.
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
Ask = Callable[[Mind, Allowance], Awaitable[Thought[Value]]]


@dataclass
class MindCalls:
    """The two minds of one run. `failures` is what went wrong with them."""

    mind: Mind
    fallback: Mind
    budget: Budget
    record: RunRecord
    notebook: Notebook
    failures: list[SourceError] = field(default_factory=list)

    async def think(self, action: ThinkAction, kind: type[Value], ask: Ask[Value], why: str) -> Value | None:
        """Ask the mind, and where it fails the fallback; None when both do."""
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
                thought = await self.record.think(step, kind, self._timed(ask, mind, left, action), why)
            except MindError as error:
                self._book(error.tokens, left, action)
                if isinstance(error, TooLittleLeft):
                    self.budget.run_short(f"too little was left for {mind.model_id} to {action}: {error.detail}")
                self.failures.append(SourceError(f"{mind.model_id} failed to {action}: {error.detail}"))
                continue
            self._book(thought.tokens, left, action)
            return thought.value
        return None

    def _book(self, tokens: int, left: Allowance, action: ThinkAction) -> None:
        self.budget.at(self.record.elapsed)
        self.budget.charge(tokens, left, f"the mind ({action})")

    def _timed(
        self, ask: Ask[Value], mind: Mind, left: Allowance, action: ThinkAction
    ) -> Callable[[], Awaitable[Thought[Value]]]:
        """The fallback's conclusion is never cut off: it needs no one outside, and something must land."""

        async def perform() -> Thought[Value]:
            if mind is self.fallback and action == "conclude":
                return await ask(mind, left)
            try:
                with anyio.fail_after(left.seconds):
                    return await ask(mind, left)
            except TimeoutError as error:
                # What it had spent by then nobody can say: it is taken to be all it might.
                raise MindError(f"no answer within {left.seconds:.0f} s", left.tokens) from error

        return perform
