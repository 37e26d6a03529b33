"""Telling: a line for what happened, with its facts by name and the run it belongs to. Knows no file and no format."""

import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

TOLD: Final = "told"
"""The name under which the facts travel on a line of `logging`."""
_TRACE: Final[ContextVar[str]] = ContextVar("trace_id", default="")

T = TypeVar("T")
Facts = Mapping[str, object]
log: Final = logging.getLogger("marchwarden.run")
# Where nobody sets up a log, Python would print warnings on stderr by itself: a library stays silent.
logging.getLogger("marchwarden").addHandler(logging.NullHandler())


@contextmanager
def trace_context(trace_id: str) -> Iterator[None]:
    """Everything told in here belongs to this run, also what tasks and threads begun in here tell."""
    token = _TRACE.set(trace_id)
    try:
        yield
    finally:
        _TRACE.reset(token)


def followed() -> str:
    """The run that is being followed here, or nothing."""
    return _TRACE.get()


def log_event(message: str, level: int = logging.INFO, /, **facts: object) -> None:
    log.log(level, message, extra={TOLD: facts})


async def timed(
    step: str, perform: Callable[[], Awaitable[T]], outcome: Callable[[T], Facts] = lambda _: {}, **facts: object
) -> T:
    """Perform one step, and tell how long it took and what came of it."""
    began = time.monotonic()
    try:
        value = await perform()
    except Exception as error:
        log_event(step, logging.WARNING, **facts, seconds=_since(began), failed=f"{type(error).__name__}: {error}")
        raise
    except BaseException:
        log_event(step, **facts, seconds=_since(began), failed="called off")
        raise
    log_event(step, **facts, seconds=_since(began), **outcome(value))
    return value


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)
