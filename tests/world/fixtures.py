"""The world as pytest fixtures: a fresh one for each test that asks for it. It starts in milliseconds."""

from collections.abc import Iterator

import pytest

from tests.world.world import World


@pytest.fixture
def world() -> Iterator[World]:
    with World() as running:
        yield running


@pytest.fixture
def named_world() -> Iterator[World]:
    """The same with host names, for whoever can be given a resolver."""
    with World(named=True) as running:
        yield running
