"""The two databases of shop.py, each made once."""

from collections.abc import Iterator

import pytest

from tests.researchers.database.nl2sql.shop import COUNTRY, MUSIC, SampleDatabase


@pytest.fixture(scope="package")
def music() -> Iterator[SampleDatabase]:
    database = SampleDatabase(MUSIC)
    yield database
    database.close()


@pytest.fixture(scope="package")
def country() -> Iterator[SampleDatabase]:
    database = SampleDatabase(COUNTRY)
    yield database
    database.close()
