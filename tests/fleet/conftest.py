"""A server for the tests of a module, and a worker in this very process."""

from collections.abc import Iterator

import pytest

from tests.fleet.engine import Server, running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("engine")) as started:
        yield started
