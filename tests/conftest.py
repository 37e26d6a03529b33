"""Fixtures and settings of all tests."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.timeouts import (
    pytest_configure,
    pytest_runtest_teardown,
    pytest_timeout_cancel_timer,
    pytest_timeout_set_timer,
    pytest_unconfigure,
)
from tests.world.fixtures import named_world, world

__all__ = [
    "anyio_backend",
    "default_sigint",
    "named_world",
    "pytest_configure",
    "pytest_runtest_teardown",
    "pytest_timeout_cancel_timer",
    "pytest_timeout_set_timer",
    "pytest_unconfigure",
    "world",
]

# The duration of a Hypothesis example depends on the machine, not on the code.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def default_sigint() -> Iterator[None]:
    """Let Ctrl-C reach the processes that a test starts. Background jobs of a shell and their children ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before or signal.SIG_DFL)
