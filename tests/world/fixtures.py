"""Pytest fixtures of the test world. Each test gets a new one; it starts in milliseconds."""

from collections.abc import Iterator

import pytest

from tests.world.world import World


@pytest.fixture
def world() -> Iterator[World]:
    with World() as running:
        yield running


@pytest.fixture
def named_world() -> Iterator[World]:
    """A world with host names, for code that accepts a resolver."""
    with World(named=True) as running:
        yield running
