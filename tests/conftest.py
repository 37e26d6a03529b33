"""Fixtures and settings of all tests."""

import pytest
from hypothesis import settings

from tests.world.fixtures import named_world, world

__all__ = ["anyio_backend", "named_world", "world"]

# The duration of a Hypothesis example depends on the machine, not on the code.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
