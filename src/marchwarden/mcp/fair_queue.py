"""Limit how many runs are active at once and let clients take turns. A full queue says when to retry.

Knows the names and limits of clients. Does not know runs.
"""

import math
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import anyio

from marchwarden.errors import Busy
from marchwarden.mcp.clients import ServiceClient

FIRST_ESTIMATE_SEC: Final = 30.0
MAX_RETRY_SEC: Final = 600.0
SMOOTHING: Final = 0.2
"""The weight of the latest run in the estimate of how long a run takes."""


@dataclass(eq=False)
class QueueTicket:
    """A place in the queue until `admitted` is set, then an active run."""

    client: ServiceClient
    admitted: anyio.Event = field(default_factory=anyio.Event)
    admitted_at: float = 0.0


class FairQueue:
    """At most `concurrent` active runs and `queued` waiting calls."""

    def __init__(self, concurrent: int, queued: int, now: Callable[[], float] = time.monotonic) -> None:
        self._concurrent = concurrent
        self._queued = queued
        self._now = now
        self._running_by_client: Counter[str] = Counter()
        self.running = 0
        self._waiting: dict[str, deque[QueueTicket]] = {}
        self._estimate_sec = FIRST_ESTIMATE_SEC

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    def enter(self, client: ServiceClient) -> QueueTicket:
        """Return a ticket, which is admitted immediately if possible. Raises `Busy` if the queue is full."""
        own = self._waiting.get(client.name, ())
        ticket = QueueTicket(client)
        if not own and self.running < self._concurrent and self._may_run(client):
            self._admit(ticket)
            return ticket
        if self.waiting >= self._queued:
            raise Busy("the queue is full", self._retry_sec(self.waiting, self._concurrent))
        if client.queued is not None and len(own) >= client.queued:
            raise Busy(
                f"{client.name} already has {len(own)} calls waiting", self._retry_sec(len(own), client.concurrent)
            )
        self._waiting.setdefault(client.name, deque()).append(ticket)
        return ticket

    def leave(self, ticket: QueueTicket) -> None:
        """Give the ticket back, admitted or not."""
        name = ticket.client.name
        if not ticket.admitted.is_set():
            self._waiting[name].remove(ticket)
            if not self._waiting[name]:
                del self._waiting[name]
            return
        self.running -= 1
        self._running_by_client[name] -= 1
        self._estimate_sec += SMOOTHING * (self._now() - ticket.admitted_at - self._estimate_sec)
        self._admit_waiting()

    def _admit_waiting(self) -> None:
        """Admit tickets while there is room: one of each client in turn, none beyond the limit of its client."""
        while self.running < self._concurrent:
            admissible = [name for name, tickets in self._waiting.items() if self._may_run(tickets[0].client)]
            if not admissible:
                return
            tickets = self._waiting.pop(admissible[0])
            self._admit(tickets.popleft())
            if tickets:
                self._waiting[admissible[0]] = tickets  # Re-insert it last: the other clients are next.

    def _may_run(self, client: ServiceClient) -> bool:
        return client.concurrent is None or self._running_by_client[client.name] < client.concurrent

    def _admit(self, ticket: QueueTicket) -> None:
        self.running += 1
        self._running_by_client[ticket.client.name] += 1
        ticket.admitted_at = self._now()
        ticket.admitted.set()

    def _retry_sec(self, ahead: int, concurrent: int | None) -> int:
        estimate = self._estimate_sec * (ahead + 1) / (concurrent or self._concurrent)
        return math.ceil(min(max(estimate, 1.0), MAX_RETRY_SEC))
