"""Retry transient failures. Does not know HTTP.

Why not stamina or tenacity: a retry must end before the surrounding anyio deadline, and honour `Retry-After`.
"""

import itertools
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from marchwarden.errors import SourceError

T = TypeVar("T")


class TransientError(SourceError):
    """A failure that a retry may fix. `retry_after` is the number of seconds the server asks to wait."""

    def __init__(self, detail: str, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


async def retry(attempt: Callable[[], Awaitable[T]], *, retries: int, pause: float) -> T:
    """Retry after a growing, jittered pause, or the requested one, as long as the deadline leaves time for it."""
    chance = random.SystemRandom()
    for tried in itertools.count():
        try:
            return await attempt()
        except TransientError as error:
            wait = chance.uniform(0.5, 1.0) * pause * 2**tried
            wait = wait if error.retry_after is None else error.retry_after + wait / 10
            if tried >= retries or anyio.current_time() + wait >= anyio.current_effective_deadline():
                raise
        await anyio.sleep(wait)
    raise AssertionError("unreachable")
