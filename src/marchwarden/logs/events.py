"""Log an event with named facts and the trace id of its run. Does not know files or formats."""

import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

FACTS: Final = "marchwarden_facts"
"""The attribute of a log record that holds the facts."""
_TRACE: Final[ContextVar[str]] = ContextVar("trace_id", default="")

T = TypeVar("T")
Facts = Mapping[str, object]
log: Final = logging.getLogger("marchwarden.run")
# A library must be silent by default: without a handler, Python prints warnings to stderr.
logging.getLogger("marchwarden").addHandler(logging.NullHandler())


@contextmanager
def trace_context(trace_id: str) -> Iterator[None]:
    """Add this trace id to all events logged in the block, including those of tasks and threads started in it."""
    token = _TRACE.set(trace_id)
    try:
        yield
    finally:
        _TRACE.reset(token)


def current_trace_id() -> str:
    """The trace id set by `trace_context`, or an empty string."""
    return _TRACE.get()


def log_event(message: str, level: int = logging.INFO, /, **facts: object) -> None:
    log.log(level, message, extra={FACTS: facts})


def log_unexpected(what: str, error: Exception) -> None:
    """Log an error that a boundary converts into one of ours. Level DEBUG adds the stack trace."""
    facts = {"failed": f"{type(error).__name__}: {error}"}
    details = log.isEnabledFor(logging.DEBUG)
    log.warning("%s failed unexpectedly", what, extra={FACTS: facts}, exc_info=error if details else None)


async def timed(
    step: str, perform: Callable[[], Awaitable[T]], outcome: Callable[[T], Facts] = lambda _: {}, **facts: object
) -> T:
    """Perform a step and log its duration and outcome."""
    started = time.monotonic()
    try:
        value = await perform()
    except Exception as error:
        log_event(step, logging.WARNING, **facts, seconds=_since(started), failed=f"{type(error).__name__}: {error}")
        raise
    except BaseException:
        log_event(step, **facts, seconds=_since(started), failed="cancelled")
        raise
    log_event(step, **facts, seconds=_since(started), **outcome(value))
    return value


def _since(started: float) -> float:
    return round(time.monotonic() - started, 3)
