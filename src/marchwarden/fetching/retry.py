"""Interrupted: a failure that another try may mend, and the tries. Knows no HTTP."""

import itertools
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from marchwarden.errors import SourceError

T = TypeVar("T")


class TransientError(SourceError):
    """It failed this time. `after`: how many seconds the other side asks to be left alone."""

    def __init__(self, detail: str, after: float | None = None) -> None:
        super().__init__(detail)
        self.after = after


async def retry(attempt: Callable[[], Awaitable[T]], *, retries: int, pause: float) -> T:
    """Try again after a growing, jittered pause, or the one asked for, while the deadline around us leaves room."""
    chance = random.SystemRandom()
    for tried in itertools.count():
        try:
            return await attempt()
        except TransientError as error:
            wait = chance.uniform(0.5, 1.0) * pause * 2**tried
            wait = wait if error.after is None else error.after + wait / 10
            if tried >= retries or anyio.current_time() + wait >= anyio.current_effective_deadline():
                raise
        await anyio.sleep(wait)
    raise AssertionError("unreachable")
