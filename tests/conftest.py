"""What every test shares."""

import pytest
from hypothesis import settings

from tests.world.fixtures import named_world, world

__all__ = ["anyio_backend", "named_world", "world"]

# How long an example takes says something about the machine, and nothing about what is tested.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
