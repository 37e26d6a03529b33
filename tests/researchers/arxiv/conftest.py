"""One extractor for all tests here: starting its processes takes longer than most tests."""

from collections.abc import Iterator

import pytest

from marchwarden.extraction import Extractor


@pytest.fixture(scope="package")
def extractor() -> Iterator[Extractor]:
    with Extractor(idle=600) as running:
        yield running
