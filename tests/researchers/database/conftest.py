from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.researchers.database.databases import (
    PostgresInstance,
    make_sqlite_file,
    postgres_unavailable_reason,
    start_postgres,
)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A small SQLite database in an otherwise empty folder."""
    folder = tmp_path / "shop"
    folder.mkdir()
    return make_sqlite_file(folder)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresInstance]:
    if why := postgres_unavailable_reason():
        pytest.skip(why)
    with start_postgres() as server:
        yield server
