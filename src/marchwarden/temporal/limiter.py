"""Limiting: a worker's side of the limits that the engine holds. Reads what they are, asks before, and tells after.

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
from marchwarden.temporal.limit_workflow import LIMIT, LIMITS, GiveBack, Limit, Spend, State, Take, limit_id
from marchwarden.temporal.model_calls import Call, Outcome

T = TypeVar("T")

LEASE_SEC: Final = 30.0
"""How long a permit is lost with whoever died holding it."""
DEPARTED_SEC: Final = 0.1
"""After so long a request is on its way; its permit counts from then."""
MARGIN: Final = 1.1
"""Of the time a permit is held: requests do not all take the same time to arrive."""
DOLLARS: Final = "dollars"
WHOLE: Final = frozenset({"arxiv"})
"""Services that want one request over, and a pause after it, before the next."""
_LIMIT: Final = re.compile(r"(?P<name>[a-z][a-z0-9-]*)=(?P<most>\d+(?:\.\d+)?)/(?P<seconds>[\d.]+)?(?P<unit>s|day)")


@dataclass(frozen=True)
class Rate:
    """At most so many in so many seconds."""

    most: int
    seconds: float


@dataclass(frozen=True)
class Limits:
    """What may be asked of whom how often, and what a day may cost."""

    rates: Mapping[str, Rate] = field(default_factory=dict)
    dollars_a_day: float | None = None

    @classmethod
    def parsed(cls, text: str, usual: Mapping[str, Rate] = MappingProxyType({})) -> Self:
        """What is said over what is usual."""
        rates, dollars = dict(usual), None
        for part in text.replace(",", " ").split():
            match = _LIMIT.fullmatch(part)
            if match is None or (match["name"] == DOLLARS) != (match["unit"] == "day"):
                raise InvalidInput(f"{part!r} is no limit: write tavily=5/s, arxiv=1/3s or dollars=20/day")
            if match["name"] == DOLLARS:
                dollars = float(match["most"])
            elif float(match["most"]) < 1:
                raise InvalidInput(f"{part!r} is less than one: write {match['name']}=1/{1 / float(match['most']):g}s")
            else:
                rates[match["name"]] = Rate(int(float(match["most"])), float(match["seconds"] or 1))
        return cls(rates, dollars)


@dataclass
class Limiter:
    """The limits of the fleet, asked by one worker."""

    client: Client
    limits: Limits
    hosts: Mapping[str, str] = field(default_factory=dict)
    """The names of services by where they are."""
    _handles: dict[str, WorkflowHandle[Limit, None]] = field(default_factory=dict)
    _telling: set["asyncio.Task[None]"] = field(default_factory=set)

    @asynccontextmanager
    async def at(self, name: str) -> AsyncIterator[None]:
        """A request to whoever is called so, when it is its turn."""
        name = self.hosts.get(name, name)
        rate = self.limits.rates.get(name)
        if rate is None:
            yield
            return
        permit = str(uuid4())
        held = rate.seconds * MARGIN
        wanted = Take(permit, rate.most, LEASE_SEC + rate.seconds)
        await self._asked(name, lambda limit: limit.execute_update(Limit.take, wanted))
        departing = None if name in WHOLE else self._later(name, GiveBack(permit, held))
        try:
            yield
        finally:
            if departing is None or departing.cancel():
                self._later(name, GiveBack(permit, held), 0.0)

    async def spend(self, dollars: float) -> bool:
        """Whether so much may be spent today; it is set aside then, and what is left of it can be given back."""
        a_day = self.limits.dollars_a_day
        if a_day is None:
            return True
        return await self._asked(DOLLARS, lambda limit: limit.execute_update(Limit.spend, Spend(dollars, a_day)))

    def _later(self, name: str, back: GiveBack, after: float = DEPARTED_SEC) -> "asyncio.Task[None]":
        async def tell() -> None:
            await asyncio.sleep(after)
            with suppress(RPCError):
                await self._asked(name, lambda limit: limit.signal(Limit.give_back, back))

        task = asyncio.create_task(tell())
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)
        return task

    async def _asked(self, name: str, ask: Callable[[WorkflowHandle[Limit, None]], Awaitable[T]]) -> T:
        """Ask the limit of that name, which is begun where there is none."""
        while True:
            if name not in self._handles:
                await self.client.start_workflow(
                    LIMIT,
                    State(),
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
    """Calls to models as the fleet may make them: at their turn, and out of the dollars of the day."""

    limiter: Limiter
    prices: Prices

    @asynccontextmanager
    async def paying(self, call: Call) -> AsyncIterator[Callable[[Outcome], None]]:
        most = self._dollars(call, Usage(input=_most(call.request), output=call.max_tokens))
        if not await self.limiter.spend(most):
            raise ModelFailed("what the fleet may spend today is spent")
        cost = most

        def settle(outcome: Outcome) -> None:
            nonlocal cost
            cost = self._cost(call, outcome, most)

        try:
            async with self.limiter.at(call.model.partition(":")[0]):
                yield settle
        finally:
            if cost < most:
                await self.limiter.spend(cost - most)

    def _cost(self, call: Call, outcome: Outcome, most: float) -> float:
        if outcome.completion is not None:
            return most if outcome.completion.usage is None else self._dollars(call, outcome.completion.usage)
        return 0.0 if outcome.failure and not outcome.failure.billed else most

    def _dollars(self, call: Call, usage: Usage) -> float:
        """A model without a price costs nothing that could be counted."""
        return self.prices.dollars(call.model, usage) or 0.0


def _most(request: Request) -> int:
    return tokens_at_most(f"{request.instructions}\n{request.asked_in_words}")
