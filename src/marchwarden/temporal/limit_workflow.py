"""Rate and spending limits of the fleet: one small workflow per limit, used by every worker. Deterministic.

A permit is held until some time after its request. The permit of a crashed worker expires with its lease.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Final

from temporalio import workflow

LIMIT: Final = "Limit"
LIMITS: Final = "marchwarden.limits"
MOST_PERMITS: Final = 500
"""After this number of permits the workflow starts a new history, which keeps replays short."""


def limit_id(name: str) -> str:
    return f"marchwarden-limit-{name}"


@dataclass(frozen=True)
class LimitState:
    """What one history passes to the next: when each permit expires, and the dollars spent today."""

    held: dict[str, float] = field(default_factory=dict)
    day: str = ""
    spent: float = 0.0


@dataclass(frozen=True)
class Take:
    """Requests a permit. At most `most` permits are held at the same time."""

    permit: str
    most: int
    lease: float


@dataclass(frozen=True)
class GiveBack:
    """Returns a permit, which becomes free after `after` seconds."""

    permit: str
    after: float


@dataclass(frozen=True)
class Spend:
    """Reserves dollars of the daily limit. A negative amount returns them."""

    dollars: float
    a_day: float


@workflow.defn(name=LIMIT)
class Limit:
    """One limit. Requests are served in order."""

    @workflow.init
    def __init__(self, state: LimitState) -> None:
        self._held = dict(state.held)
        self._day, self._spent = state.day, state.spent
        self._given = 0
        self._freed = False
        self._queue = asyncio.Lock()

    @workflow.run
    async def run(self, state: LimitState) -> None:
        await workflow.wait_condition(lambda: self._given >= MOST_PERMITS)
        await workflow.wait_condition(workflow.all_handlers_finished)
        workflow.continue_as_new(LimitState(self._held, self._day, self._spent))

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
        """Reserve dollars if the limit of today (UTC) allows it."""
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
