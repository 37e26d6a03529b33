"""Fixture: one Temporal server per test process, started when the first test needs it."""

from collections.abc import Iterator

import pytest

from tests.temporal.temporal_server import TemporalServer, run_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TemporalServer]:
    with run_server(tmp_path_factory.mktemp("temporal")) as started:
        yield started
