"""State shared by all calls to a server: limits, clients, queue, rate limiter, metrics and graceful shutdown."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

import anyio

from marchwarden.errors import Busy
from marchwarden.mcp.clients import ClientRegistry, ServiceClient, ServiceConfig, ServiceLimits
from marchwarden.mcp.fair_queue import FairQueue
from marchwarden.mcp.metrics import Metrics

MINUTE_SEC: Final = 60.0


class Drainable(Protocol):
    """Work that can be waited for and stopped."""

    async def wait_until_idle(self) -> None: ...

    def stop(self) -> None: ...


class CallRateLimiter:
    """Limits the calls per minute with a token bucket per client.

    Hand-written, because a rejected call must cost as little as possible and say exactly when to retry.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._levels: dict[str, tuple[float, float]] = {}

    def count(self, client: ServiceClient) -> None:
        """Count one call. Raises `Busy` if the client is over its limit."""
        if client.calls_per_minute is None:
            return
        capacity, now = float(client.calls_per_minute), self._now()
        level, since = self._levels.get(client.name, (capacity, now))
        level = min(capacity, level + (now - since) * capacity / MINUTE_SEC)
        if level < 1.0:
            self._levels[client.name] = (level, now)
            reason = f"{client.name} may make {client.calls_per_minute} calls per minute"
            raise Busy(reason, max(1, math.ceil((1.0 - level) * MINUTE_SEC / capacity)))
        self._levels[client.name] = (level - 1.0, now)


class Service:
    """Shared by a server and the middleware in front of it. Calls are stored in memory if there is no path."""

    def __init__(self, config: ServiceConfig | None = None, call_store_path: Path | None = None) -> None:
        config = config or ServiceConfig()
        self.limits: ServiceLimits = config.limits
        self.registry: ClientRegistry = config.registry
        self.call_store_path = call_store_path
        self.queue = FairQueue(self.limits.concurrent, self.limits.queued)
        self.rate_limiter = CallRateLimiter()
        self.metrics = Metrics()
        self.run_pools: set[Drainable] = set()
        self.draining = False
        self._open_responses = 0
        self._response_sent = anyio.Event()

    def admit(self, client: ServiceClient) -> None:
        """Count a call of the tool. Raises `Busy` if it may not start."""
        try:
            if self.draining:
                raise Busy("the server is stopping", max(1, round(self.limits.drain)))
            self.rate_limiter.count(client)
        except Busy:
            self.metrics.count("calls_total", client=client.name, outcome="busy")
            raise

    @contextmanager
    def sending_response(self) -> Iterator[None]:
        """Keep a draining server alive until the response is sent completely."""
        self._open_responses += 1
        try:
            yield
        finally:
            self._open_responses -= 1
            self._response_sent.set()

    async def drain(self) -> None:
        """Reject new calls and wait for the active ones, at most `limits.drain` seconds."""
        self.draining = True
        with anyio.move_on_after(self.limits.drain):
            for pool in tuple(self.run_pools):
                await pool.wait_until_idle()
            while self._open_responses:
                self._response_sent = anyio.Event()
                await self._response_sent.wait()

    def stop(self) -> None:
        self.draining = True
        for pool in self.run_pools:
            pool.stop()

    def render_metrics(self) -> str:
        return self.metrics.render(
            {
                "runs_in_flight": ("Active runs.", self.queue.running),
                "runs_queued": ("Calls waiting in the queue.", self.queue.waiting),
                "draining": ("1 while the server finishes its runs before it stops.", float(self.draining)),
            }
        )
