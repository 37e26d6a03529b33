"""Quota: how many calls a minute each caller may make. Knows callers by name and limit, and the time."""

import math
import time
from collections.abc import Callable
from typing import Final

from marchwarden.errors import Busy
from marchwarden.mcp.clients import ServiceClient

MINUTE: Final = 60.0


class CallRateLimiter:
    """A bucket a caller, filled at its rate and never beyond a minute's worth."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._levels: dict[str, tuple[float, float]] = {}

    def charge(self, caller: ServiceClient) -> None:
        """Count one call; raises `Busy` when it is one too many."""
        if caller.calls_per_minute is None:
            return
        most, now = float(caller.calls_per_minute), self._now()
        level, since = self._levels.get(caller.name, (most, now))
        level = min(most, level + (now - since) * most / MINUTE)
        if level < 1.0:
            self._levels[caller.name] = (level, now)
            told = f"{caller.name} may make {caller.calls_per_minute} calls a minute"
            raise Busy(told, max(1, math.ceil((1.0 - level) * MINUTE / most)))
        self._levels[caller.name] = (level - 1.0, now)
