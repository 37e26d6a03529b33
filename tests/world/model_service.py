"""A model service on loopback: takes an ask, has a personality answer it, bills it and writes it down.

What its requests and answers look like is the dialect's business.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Protocol

from tests.world.model_faults import ModelFault, Refusal, Spoiling, Twist
from tests.world.model_orders import Orders
from tests.world.models import Answer, Ask, Bill, Call, ModelLog, Personality, limited
from tests.world.server import Behaviour, Reply, Request, Wire


class Unreadable(Exception):
    """A request its service cannot make sense of."""


class Dialect(Protocol):
    """How one service speaks on the wire."""

    name: str

    def key(self, request: Request) -> str: ...

    def aside(self, request: Request, path: str) -> Reply | None:
        """The answer to anything that is not a request for words."""
        ...

    def understood(self, request: Request) -> Ask:
        """Raises `Unreadable`."""
        ...

    def serves(self, model: str) -> bool: ...

    def billed(self, ask: Ask, output: int, kept: set[tuple[str, str]], run: str) -> Bill:
        """The bill, and the beginnings of prompts kept for the next one."""
        ...

    def refused(self, status: int, *headers: tuple[str, str]) -> Reply: ...

    def answered(self, ask: Ask, answer: Answer, bill: Bill) -> Reply: ...


class ModelService:
    def __init__(
        self,
        dialect: Dialect,
        key: str,
        log: ModelLog,
        personalities: Mapping[str, Personality],
        faults: Mapping[str, ModelFault],
    ) -> None:
        self._dialect = dialect
        self._key = key
        self._log = log
        self._personalities = personalities
        self._faults = faults
        self._seen: Counter[str] = Counter()
        self._kept: set[tuple[str, str]] = set()

    def __call__(self, request: Request) -> Reply | Behaviour:
        orders, path = Orders.of(request.target)
        aside = self._dialect.aside(request, path)
        if aside:
            return aside
        self._seen[request.path] += 1
        fault = self._faults[orders.trouble] if orders.due(self._seen[request.path]) else None
        answer = self._served(request, orders, fault)
        return _late(answer, orders.latency) if orders.latency else answer

    def _served(self, request: Request, orders: Orders, fault: ModelFault | None) -> Reply | Behaviour:
        if isinstance(fault, Refusal) and not fault.schema:
            return self._refused(orders, fault.status, fault)
        if self._dialect.key(request) != self._key:
            return self._refused(orders, 401)
        try:
            ask = self._dialect.understood(request)
        except Unreadable:
            return self._refused(orders, 400)
        if not self._dialect.serves(ask.model):
            return self._refused(orders, 404, ask=ask)
        if isinstance(fault, Refusal) and ask.schema is not None:
            return self._refused(orders, fault.status, fault, ask)
        return self._answered(ask, orders, fault)

    def _answered(self, ask: Ask, orders: Orders, fault: ModelFault | None) -> Reply | Behaviour:
        meant = self._personalities[orders.cast](ask)
        answer, output = limited(ask, fault.change(meant) if isinstance(fault, Twist) else meant)
        bill = self._dialect.billed(ask, output, self._kept, orders.run)
        if isinstance(fault, Spoiling) and not fault.billed:
            bill = Bill()
        reply: Reply | Behaviour = self._written(ask, answer, bill)
        if isinstance(fault, Spoiling):
            reply = fault.change(self._written(ask, answer, bill))
        self._write(orders, reply.status if isinstance(reply, Reply) else 0, fault, bill, ask, answer)
        return reply

    def _written(self, ask: Ask, answer: Answer, bill: Bill) -> Reply:
        if answer.whole is not None:
            return Reply(200, answer.whole, (("Content-Type", "application/json"),))
        return self._dialect.answered(ask, answer, bill)

    def _refused(self, orders: Orders, status: int, fault: Refusal | None = None, ask: Ask | None = None) -> Reply:
        later = fault.retry_after if fault else None
        self._write(orders, status, fault, Bill(), ask)
        return self._dialect.refused(status, *(() if later is None else (("Retry-After", str(later)),)))

    def _write(
        self,
        orders: Orders,
        status: int,
        fault: ModelFault | None,
        bill: Bill,
        ask: Ask | None = None,
        answer: Answer | None = None,
    ) -> None:
        trouble = orders.trouble if fault else ""
        name = self._dialect.name
        self._log.write(Call(name, orders.run, orders.personality, trouble, status, bill, ask, answer))


def _late(answer: Reply | Behaviour, seconds: float) -> Behaviour:
    async def behave(wire: Wire) -> None:
        await asyncio.sleep(seconds)
        if isinstance(answer, Reply):
            await wire.send(answer.written())
        else:
            await answer(wire)

    return behave
