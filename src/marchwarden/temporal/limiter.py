"""Apply the fleet's rate and spending limits in a worker.

MARCHWARDEN_LIMITS="tavily=5/s anthropic=20/s arxiv=1/3s dollars=50/day"
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Self, TypeVar
from uuid import uuid4

from temporalio.client import Client, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError, RPCStatusCode

from marchwarden.audit.prices import Prices
from marchwarden.core.notebook import Usage
from marchwarden.errors import InvalidInput
from marchwarden.minds.llm.estimate import tokens_at_most
from marchwarden.minds.llm.model import ModelFailed, Request
from marchwarden.temporal.limit_workflow import LIMIT, LIMITS, GiveBack, Limit, LimitState, Spend, Take, limit_id
from marchwarden.temporal.model_calls import ModelCall, ModelOutcome

T = TypeVar("T")

LEASE_SEC: Final = 30.0
"""How long the permit of a crashed worker stays blocked."""
SENT_SEC: Final = 0.1
"""After this time a request counts as sent, and the time of its permit starts."""
MARGIN: Final = 1.1
"""Factor on the time a permit is held, because requests take different times to arrive."""
DOLLARS: Final = "dollars"
_LIMIT: Final = re.compile(
    r"(?P<name>[a-z][a-z0-9-]*)=(?P<most>\d+(?:\.\d+)?)/(?P<seconds>\d+(?:\.\d+)?)?(?P<unit>s|day)"
)


@dataclass(frozen=True)
class Rate:
    """At most `most` requests in `seconds` seconds."""

    most: int
    seconds: float


@dataclass(frozen=True)
class RateLimits:
    """Request rates per service and the daily spending limit."""

    rates: Mapping[str, Rate] = field(default_factory=dict)
    dollars_a_day: float | None = None

    @classmethod
    def parse(cls, text: str, defaults: Mapping[str, Rate] = MappingProxyType({})) -> Self:
        """Parse limits; they override the defaults."""
        rates, dollars = dict(defaults), None
        for part in text.replace(",", " ").split():
            match = _LIMIT.fullmatch(part)
            if match is None or (match["name"] == DOLLARS) != (match["unit"] == "day"):
                raise InvalidInput(f"{part!r} is not a limit: write tavily=5/s, arxiv=1/3s or dollars=20/day")
            if match["name"] == DOLLARS:
                dollars = float(match["most"])
            elif float(match["seconds"] or 1) == 0:
                raise InvalidInput(f"{part!r} has no time: write {match['name']}={match['most']}/s")
            elif float(match["most"]) < 1:
                raise InvalidInput(f"{part!r} is less than one: write {match['name']}=1/{1 / float(match['most']):g}s")
            else:
                rates[match["name"]] = Rate(int(float(match["most"])), float(match["seconds"] or 1))
        return cls(rates, dollars)


@dataclass
class Limiter:
    """Asks the limits of the fleet for permits."""

    client: Client
    limits: RateLimits
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Service names by host."""
    one_at_a_time: frozenset[str] = frozenset()
    """Services that require a pause after each finished request."""
    _handles: dict[str, WorkflowHandle[Limit, None]] = field(default_factory=dict)
    _tasks: set["asyncio.Task[None]"] = field(default_factory=set)

    @asynccontextmanager
    async def at(self, name: str) -> AsyncIterator[None]:
        """Wait for a permit for one request to this service or host."""
        name = self.hosts.get(name, name)
        rate = self.limits.rates.get(name)
        if rate is None:
            yield
            return
        permit = str(uuid4())
        held = rate.seconds * MARGIN
        wanted = Take(permit, rate.most, LEASE_SEC + rate.seconds)
        await self._ask_limit(name, lambda limit: limit.execute_update(Limit.take, wanted))
        returning = None if name in self.one_at_a_time else self._later(name, GiveBack(permit, held))
        try:
            yield
        finally:
            if returning is None or returning.cancel():
                self._later(name, GiveBack(permit, held), 0.0)

    async def spend(self, dollars: float) -> bool:
        """Reserve dollars for today. Returns False if the limit is reached."""
        a_day = self.limits.dollars_a_day
        if a_day is None:
            return True
        return await self._ask_limit(DOLLARS, lambda limit: limit.execute_update(Limit.spend, Spend(dollars, a_day)))

    def _later(self, name: str, back: GiveBack, after: float = SENT_SEC) -> "asyncio.Task[None]":
        async def give_back() -> None:
            await asyncio.sleep(after)
            with suppress(RPCError):
                await self._ask_limit(name, lambda limit: limit.signal(Limit.give_back, back))

        task = asyncio.create_task(give_back())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _ask_limit(self, name: str, ask: Callable[[WorkflowHandle[Limit, None]], Awaitable[T]]) -> T:
        """Send a message to the limit workflow of this name. Starts it if needed."""
        while True:
            if name not in self._handles:
                await self.client.start_workflow(
                    LIMIT,
                    LimitState(),
                    id=limit_id(name),
                    task_queue=LIMITS,
                    id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                )
                self._handles[name] = self.client.get_workflow_handle_for(Limit.run, limit_id(name))
            try:
                return await ask(self._handles[name])
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
                del self._handles[name]


@dataclass(frozen=True)
class SpendingLimit:
    """Allows model calls within the rate limit and the daily spending limit."""

    limiter: Limiter
    prices: Prices

    @asynccontextmanager
    async def permit(self, call: ModelCall) -> AsyncIterator[Callable[[ModelOutcome], None]]:
        most = self._dollars(call, Usage(input=_most(call.request), output=call.max_tokens))
        if not await self.limiter.spend(most):
            raise ModelFailed("the daily spending limit of the fleet is reached")
        cost = most

        def settle(outcome: ModelOutcome) -> None:
            nonlocal cost
            cost = self._cost(call, outcome, most)

        try:
            async with self.limiter.at(call.model.partition(":")[0]):
                yield settle
        finally:
            if cost < most:
                await self.limiter.spend(cost - most)

    def _cost(self, call: ModelCall, outcome: ModelOutcome, most: float) -> float:
        if outcome.completion is not None:
            return most if outcome.completion.usage is None else self._dollars(call, outcome.completion.usage)
        return 0.0 if outcome.failure and not outcome.failure.billed else most

    def _dollars(self, call: ModelCall, usage: Usage) -> float:
        """Return the price of a call. Models without a price count as free."""
        return self.prices.dollars(call.model, usage) or 0.0


def _most(request: Request) -> int:
    return tokens_at_most(f"{request.instructions}\n{request.prompt_with_schema}")
