"""Fixtures for the two sample databases, each created once."""

from collections.abc import Iterator

import pytest

from tests.researchers.database.nl2sql.sample_databases import COUNTRY, MUSIC, SampleDatabase


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
