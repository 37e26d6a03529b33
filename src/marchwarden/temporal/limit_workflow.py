"""Limits as the engine holds them: one small workflow for each, asked by every worker of the fleet. Deterministic.

A permit is held until some time after the request it was for; whoever dies with one loses it when its lease ends.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Final

from temporalio import workflow

LIMIT: Final = "Limit"
LIMITS: Final = "marchwarden.limits"
MOST_PERMITS: Final = 500
"""After so many the workflow begins a new history: it is walked again when its worker dies."""


def limit_id(name: str) -> str:
    return f"marchwarden-limit-{name}"


@dataclass(frozen=True)
class State:
    """What is carried from one history to the next: until when each permit is held, and the dollars of the day."""

    held: dict[str, float] = field(default_factory=dict)
    day: str = ""
    spent: float = 0.0


@dataclass(frozen=True)
class Take:
    """A permit, please, where at most so many may be held at once."""

    permit: str
    most: int
    lease: float


@dataclass(frozen=True)
class GiveBack:
    """A permit that is free again after so many seconds."""

    permit: str
    after: float


@dataclass(frozen=True)
class Spend:
    """Dollars to be set aside of what may be spent in a day; less than nothing gives some back."""

    dollars: float
    a_day: float


@workflow.defn(name=LIMIT)
class Limit:
    """First come, first served."""

    @workflow.init
    def __init__(self, state: State) -> None:
        self._held = dict(state.held)
        self._day, self._spent = state.day, state.spent
        self._given = 0
        self._freed = False
        self._queue = asyncio.Lock()

    @workflow.run
    async def run(self, state: State) -> None:
        await workflow.wait_condition(lambda: self._given >= MOST_PERMITS)
        await workflow.wait_condition(workflow.all_handlers_finished)
        workflow.continue_as_new(State(self._held, self._day, self._spent))

    @workflow.update
    async def take(self, wanted: Take) -> None:
        async with self._queue:
            while self._still_held() >= wanted.most:
                self._freed = False
                wait = max(min(self._held.values()) - workflow.now().timestamp(), 0.001)
                try:
                    await workflow.wait_condition(lambda: self._freed, timeout=wait)
                except TimeoutError:
                    continue
            self._held[wanted.permit] = workflow.now().timestamp() + wanted.lease
            self._given += 1

    @workflow.signal
    def give_back(self, back: GiveBack) -> None:
        if back.permit in self._held:
            self._held[back.permit] = workflow.now().timestamp() + back.after
            self._freed = True

    @workflow.update
    def spend(self, wanted: Spend) -> bool:
        """Whether it may be spent today, the day of the whole world (UTC)."""
        today = workflow.now().date().isoformat()
        if today != self._day:
            self._day, self._spent = today, 0.0
        self._given += 1
        if wanted.dollars > 0 and self._spent + wanted.dollars > wanted.a_day:
            return False
        self._spent = max(self._spent + wanted.dollars, 0.0)
        return True

    def _still_held(self) -> int:
        now = workflow.now().timestamp()
        self._held = {permit: until for permit, until in self._held.items() if until > now}
        return len(self._held)
