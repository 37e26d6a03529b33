"""Call a mind within the budget, with the extractive mind as the fallback. This is the boundary to minds.

The cost of a call is charged before its result is used. The fallback is free. Does not know sources.
"""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

import anyio

from marchwarden.core.budget import Allowance, Budget
from marchwarden.core.notebook import Draft, Notebook, Plan, Reading, Thought
from marchwarden.errors import MindError, ReplayDiverged, SourceError, TooLittleLeft
from marchwarden.logs import log_unexpected
from marchwarden.protocols import Mind
from marchwarden.storage.record import RunRecord, ThinkAction, ThinkStep

Value = TypeVar("Value", Plan, Reading, Draft)
MindCall = Callable[[Mind, Allowance], Awaitable[Thought[Value]]]


@dataclass
class MindCalls:
    """The mind of one run and its fallback. `failures` lists failed calls, `author` the mind that wrote the draft.

    After a permanent error the mind is not called again. `kept_back` is how many tokens a plan must leave for the work.
    """

    mind: Mind
    fallback: Mind
    budget: Budget
    record: RunRecord
    notebook: Notebook
    failures: list[SourceError] = field(default_factory=list)
    author: str = ""
    kept_back: int = 0
    _has_given_up: bool = False

    def __post_init__(self) -> None:
        self.author = self.mind.model_id

    async def think(self, action: ThinkAction, kind: type[Value], ask: MindCall[Value], why: str) -> Value | None:
        """Call the mind, then the fallback if it fails. Returns None if both fail."""
        for mind in self._candidates():
            left = self._allowance(mind, action)
            step = ThinkStep(
                action,
                self.budget.iterations_run,
                mind.model_id,
                is_fallback=mind is not self.mind,
                numbering=self.notebook.numbering,
            )
            try:
                thought = await self.record.think(step, kind, self._guarded(ask, mind, left, action), why)
            except MindError as error:
                self._charge(error.tokens, left, action)
                self._note_failure(error, mind, action)
                continue
            self._charge(thought.tokens, left, action)
            if action == "conclude":
                self.author = mind.model_id
            return thought.value
        return None

    def _candidates(self) -> Iterator[Mind]:
        if not self._has_given_up:
            yield self.mind
        if self.mind is not self.fallback:
            yield self.fallback

    def _allowance(self, mind: Mind, action: ThinkAction) -> Allowance:
        left, whole = self.budget.left(), self.budget.left_to_conclude()
        if action == "conclude":
            left = whole
        elif action == "plan":
            left = replace(left, tokens=max(min(left.tokens, whole.tokens - self.kept_back), 0))
        return left if mind is self.mind else replace(left, tokens=self.budget.limits.token_budget)

    def _note_failure(self, error: MindError, mind: Mind, action: ThinkAction) -> None:
        if isinstance(error, TooLittleLeft):
            self.budget.run_short(f"not enough budget left for {mind.model_id} to {action}: {error.detail}")
        self.failures.append(SourceError(f"{mind.model_id} failed to {action}: {error.detail}"))
        self._has_given_up = self._has_given_up or error.permanent

    def _charge(self, tokens: int, left: Allowance, action: ThinkAction) -> None:
        self.budget.at(self.record.elapsed)
        self.budget.charge(tokens, left, f"the model ({action})")

    def _guarded(
        self, ask: MindCall[Value], mind: Mind, left: Allowance, action: ThinkAction
    ) -> Callable[[], Awaitable[Thought[Value]]]:
        """Convert everything unexpected into `MindError`, and add a time limit.

        The fallback's conclusion has no time limit: it is local, and every run must return a result.
        """
        is_fallback = mind is not self.mind
        seconds = None if is_fallback and action == "conclude" else left.seconds

        async def perform() -> Thought[Value]:
            try:
                with anyio.fail_after(seconds):
                    thought = await ask(mind, left)
            except (MindError, ReplayDiverged):
                raise
            except TimeoutError as error:
                # The real cost is unknown, so charge the maximum.
                raise MindError(f"no answer within {left.seconds:.0f} s", 0 if is_fallback else left.tokens) from error
            except Exception as error:
                log_unexpected(f"{mind.model_id} ({action})", error)
                spent = 0 if is_fallback else left.tokens
                raise MindError(f"an unexpected error: {type(error).__name__}", spent) from error
            return replace(thought, tokens=0) if is_fallback else thought

        return perform
