"""Gate: how many runs go on at once, and who waits for a place. Callers take turns; a full queue says when to return.

Knows callers by name and limits; knows no run.
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

FIRST_GUESS_SEC: Final = 30.0
LONGEST_SEC: Final = 600.0
WEIGHT: Final = 0.2
"""How much the latest run counts in how long a run is taken to last."""


@dataclass(eq=False)
class QueueTicket:
    """A place at the gate: waiting until `open` is set, then inside until it is left."""

    caller: ServiceClient
    open: anyio.Event = field(default_factory=anyio.Event)
    entered: float = 0.0


class FairQueue:
    """Places for `concurrent` runs, and for `queued` calls before them."""

    def __init__(self, concurrent: int, queued: int, now: Callable[[], float] = time.monotonic) -> None:
        self._concurrent = concurrent
        self._queued = queued
        self._now = now
        self._inside: Counter[str] = Counter()
        self.inside = 0
        self._waiting: dict[str, deque[QueueTicket]] = {}
        self._typical = FIRST_GUESS_SEC

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    def take(self, caller: ServiceClient) -> QueueTicket:
        """A place, open at once if there is one inside. Raises `Busy` when there is none to wait at either."""
        own = self._waiting.get(caller.name, ())
        place = QueueTicket(caller)
        if not own and self.inside < self._concurrent and self._may_enter(caller):
            self._enter(place)
            return place
        if self.waiting >= self._queued:
            raise Busy("the queue is full", self._wait(self.waiting, self._concurrent))
        if caller.queued is not None and len(own) >= caller.queued:
            raise Busy(
                f"{caller.name} has {len(own)} calls waiting, its share", self._wait(len(own), caller.concurrent)
            )
        self._waiting.setdefault(caller.name, deque()).append(place)
        return place

    def leave(self, place: QueueTicket) -> None:
        """Give the place back, inside or in the queue."""
        name = place.caller.name
        if not place.open.is_set():
            self._waiting[name].remove(place)
            self._forget(name)
            return
        self.inside -= 1
        self._inside[name] -= 1
        self._typical += WEIGHT * (self._now() - place.entered - self._typical)
        self._admit()

    def _admit(self) -> None:
        """Who waits goes in as places are free: one of each caller in turn, none beyond its own limit."""
        while self.inside < self._concurrent:
            able = [name for name, places in self._waiting.items() if self._may_enter(places[0].caller)]
            if not able:
                return
            places = self._waiting.pop(able[0])
            self._enter(places.popleft())
            if places:
                self._waiting[able[0]] = places  # at the end: the others come first now

    def _may_enter(self, caller: ServiceClient) -> bool:
        return caller.concurrent is None or self._inside[caller.name] < caller.concurrent

    def _enter(self, place: QueueTicket) -> None:
        self.inside += 1
        self._inside[place.caller.name] += 1
        place.entered = self._now()
        place.open.set()

    def _forget(self, name: str) -> None:
        if not self._waiting[name]:
            del self._waiting[name]

    def _wait(self, ahead: int, lanes: int | None) -> int:
        return math.ceil(min(max(self._typical * (ahead + 1) / (lanes or self._concurrent), 1.0), LONGEST_SEC))
