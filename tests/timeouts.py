"""Pytest hooks that end a test that still hangs after pytest-timeout has interrupted it.

pytest-timeout interrupts a hanging test with a signal, so that it fails with the stacks of all threads. This does not
end a test that waits again afterwards: for a thread, or for a process in its `__exit__`. After `GRACE_SEC` more, these
hooks print all stacks and end the process. With xdist, the test is then reported and another worker takes over.
"""

import asyncio
import faulthandler
import os
import signal
import sys
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any

import pytest

GRACE_SEC = 60.0
"""Time between the signal and the end of the process. Also for threads that still run after the last test."""
_STDERR = pytest.StashKey[int]()
_LIMIT = pytest.StashKey[float]()


def pytest_configure(config: pytest.Config) -> None:
    # A copy, because stderr is redirected while a test runs.
    config.stash[_STDERR] = os.dup(2)


def pytest_unconfigure(config: pytest.Config) -> None:
    # A worker of xdist waits for the others, and is ended by the process that started it.
    if not hasattr(config, "workerinput"):
        _end_process_after(GRACE_SEC, config)


@pytest.hookimpl(wrapper=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> Generator[None, bool, bool]:
    item.stash[_LIMIT] = settings.timeout
    _end_process_after(settings.timeout + GRACE_SEC, item.config)
    is_set = yield
    interrupt = signal.getsignal(signal.SIGALRM)
    if callable(interrupt):
        signal.signal(signal.SIGALRM, partial(_print_tasks_and, interrupt))
    return is_set


def _print_tasks_and(interrupt: Callable[[int, FrameType | None], Any], number: int, frame: FrameType | None) -> None:
    """Print where each task waits: the stack of the interrupted event loop does not show it."""
    __tracebackhide__ = True
    with suppress(RuntimeError):  # no event loop is running
        for task in asyncio.all_tasks():
            stack = traceback.StackSummary.extract((frame, frame.f_lineno) for frame in _frames(task.get_coro()))
            sys.stderr.write(f"{task.get_name()} waits at:\n{''.join(stack.format())}")
    interrupt(number, frame)


def _frames(coroutine: Any) -> Iterator[FrameType]:
    """Yield the frames of a coroutine and of those it waits for. `Task.get_stack` returns only the first."""
    while frame := getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None):
        yield frame
        coroutine = getattr(coroutine, "cr_await", None) or getattr(coroutine, "gi_yieldfrom", None)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    """Start again, because after a failed test pytest and pytest-timeout stop all timers."""
    if _LIMIT in item.stash:
        _end_process_after(item.stash[_LIMIT] + GRACE_SEC, item.config)
    return (yield)


def pytest_timeout_cancel_timer(item: pytest.Item) -> None:
    faulthandler.cancel_dump_traceback_later()


def _end_process_after(seconds: float, config: pytest.Config) -> None:
    faulthandler.dump_traceback_later(seconds, file=config.stash[_STDERR], exit=True)
