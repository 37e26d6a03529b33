"""The two databases of shop.py, each made once."""

from collections.abc import Iterator

import pytest

from tests.researchers.database.nl2sql.shop import COUNTRY, MUSIC, Asked


@pytest.fixture(scope="package")
def music() -> Iterator[Asked]:
    asked = Asked(MUSIC)
    yield asked
    asked.close()


@pytest.fixture(scope="package")
def country() -> Iterator[Asked]:
    asked = Asked(COUNTRY)
    yield asked
    asked.close()
