"""One Temporal server for all tests of a process: started where the first of them asks for it."""

from collections.abc import Iterator

import pytest

from tests.temporal.engine import Server, running


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("engine")) as started:
        yield started
