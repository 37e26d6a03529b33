"""Service: what all calls to a server share: its terms, its gate, its quotas, its meter, and whether it is closing."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import anyio

from marchwarden.errors import Busy
from marchwarden.mcp.clients import ClientRegistry, ServiceClient, ServiceConfig, ServiceLimits
from marchwarden.mcp.fair_queue import FairQueue
from marchwarden.mcp.metrics import Metrics
from marchwarden.mcp.rate_limit import CallRateLimiter


class Working(Protocol):
    """Something with work in hand that can be waited for, and stopped."""

    async def idle(self) -> None: ...

    def stop(self) -> None: ...


class Service:
    """One for a server and the door before it. `ledger` is where calls are noted; in memory where it is None."""

    def __init__(self, house: ServiceConfig | None = None, ledger: Path | None = None) -> None:
        house = house or ServiceConfig()
        self.terms: ServiceLimits = house.terms
        self.guests: ClientRegistry = house.guests
        self.ledger = ledger
        self.gate = FairQueue(self.terms.concurrent, self.terms.queued)
        self.quota = CallRateLimiter()
        self.meter = Metrics()
        self.working: set[Working] = set()
        self.draining = False
        self._answering = 0
        self._answered = anyio.Event()

    def admit(self, caller: ServiceClient) -> None:
        """Count a call of the tool in; raises `Busy` where it must not begin."""
        try:
            if self.draining:
                raise Busy("the server is stopping", max(1, round(self.terms.drain)))
            self.quota.charge(caller)
        except Busy:
            self.meter.count("calls_total", client=caller.name, outcome="busy")
            raise

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Around an answer: a server that drains stays until it is wholly sent."""
        self._answering += 1
        try:
            yield
        finally:
            self._answering -= 1
            self._answered.set()

    async def drain(self) -> None:
        """Let no further call begin, and wait for those under way and their answers as long as the terms allow."""
        self.draining = True
        with anyio.move_on_after(self.terms.drain):
            for each in tuple(self.working):
                await each.idle()
            while self._answering:
                self._answered = anyio.Event()
                await self._answered.wait()

    def stop(self) -> None:
        self.draining = True
        for each in self.working:
            each.stop()

    def metrics(self) -> str:
        return self.meter.written(
            {
                "runs_in_flight": ("Runs that go on now.", self.gate.inside),
                "runs_queued": ("Calls that wait for a place.", self.gate.waiting),
                "draining": ("1 while the server is told to stop and lets its runs end.", float(self.draining)),
            }
        )
