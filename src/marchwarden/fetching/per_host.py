"""Turns: how many requests a host gets at once, and how far apart. Knows hosts by name only."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import anyio

from marchwarden.errors import SourceError

_MOST_HOSTS: Final = 1024


class HostQueues:
    """Every host has its own queue; no host waits for another."""

    def __init__(self, per_host: int) -> None:
        self._per_host = per_host
        self._queues: dict[str, _Queue] = {}

    @asynccontextmanager
    async def at(self, host: str, delay: float) -> AsyncIterator[None]:
        """Wait for a turn at the host and hold it until the end of the block."""
        self._forget_idle()
        queue = self._queues.setdefault(host, _Queue(self._per_host))
        async with queue.places:
            await queue.start(host, delay)
            yield

    def _forget_idle(self) -> None:
        if len(self._queues) >= _MOST_HOSTS:
            idle = [host for host, queue in self._queues.items() if queue.idle]
            for host in idle:
                del self._queues[host]


class _Queue:
    def __init__(self, places: int) -> None:
        self._all = places
        self.places = anyio.Semaphore(places)
        self._next = 0.0

    @property
    def idle(self) -> bool:
        waiting = self.places.statistics().tasks_waiting
        return not waiting and self.places.value == self._all and self._next <= time.monotonic()

    async def start(self, host: str, delay: float) -> None:
        wait = max(self._next - time.monotonic(), 0.0)
        if anyio.current_time() + wait >= anyio.current_effective_deadline():
            raise SourceError(f"{host} was asked for too many pages at once to be asked for this one in time")
        self._next = time.monotonic() + wait + delay
        await anyio.sleep(wait)
