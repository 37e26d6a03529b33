from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.researchers.database.houses import PostgresHouse, a_postgres_server, a_sqlite_file, why_no_postgres


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A small SQLite database, alone in its folder."""
    folder = tmp_path / "shop"
    folder.mkdir()
    return a_sqlite_file(folder)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresHouse]:
    if why := why_no_postgres():
        pytest.skip(why)
    with a_postgres_server() as house:
        yield house
