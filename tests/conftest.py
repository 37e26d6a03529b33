"""What every test shares."""

import pytest

from tests.world.fixtures import named_world, world

__all__ = ["anyio_backend", "named_world", "world"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
