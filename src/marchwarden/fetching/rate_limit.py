"""Limit requests: an optional gate in front of a service, and a queue per host that spaces its requests."""

import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final, Protocol

import anyio

from marchwarden.errors import SourceError

_MAX_HOSTS: Final = 1024


class RequestGate(Protocol):
    """Permission to make a request to a service, identified by host or by name."""

    def at(self, name: str) -> AbstractAsyncContextManager[None]:
        """Wait for permission, hold it for the block and release it afterwards."""
        ...


class OpenGate:
    """A gate without limits."""

    @asynccontextmanager
    async def at(self, name: str) -> AsyncIterator[None]:
        yield


class HostQueues:
    """One queue per host. Hosts do not wait for each other."""

    def __init__(self, per_host: int) -> None:
        self._per_host = per_host
        self._queues: dict[str, _Queue] = {}

    @asynccontextmanager
    async def at(self, host: str, delay: float) -> AsyncIterator[None]:
        """Wait for a slot at the host and hold it for the block. `delay` separates the starts of two requests."""
        self._forget_idle()
        queue = self._queues.setdefault(host, _Queue(self._per_host))
        async with queue.slots:
            await queue.start(host, delay)
            yield

    def _forget_idle(self) -> None:
        if len(self._queues) >= _MAX_HOSTS:
            idle = [host for host, queue in self._queues.items() if queue.idle]
            for host in idle:
                del self._queues[host]


class _Queue:
    def __init__(self, slots: int) -> None:
        self._total = slots
        self.slots = anyio.Semaphore(slots)
        self._next = 0.0

    @property
    def idle(self) -> bool:
        waiting = self.slots.statistics().tasks_waiting
        return not waiting and self.slots.value == self._total and self._next <= time.monotonic()

    async def start(self, host: str, delay: float) -> None:
        wait = max(self._next - time.monotonic(), 0.0)
        if anyio.current_time() + wait >= anyio.current_effective_deadline():
            raise SourceError(f"too many pages at once were requested from {host} to start this one in time")
        self._next = time.monotonic() + wait + delay
        await anyio.sleep(wait)
