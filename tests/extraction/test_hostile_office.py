"""Hostile Office files are refused with one line, or read in little memory, by a worker that goes on."""

from collections.abc import Iterator

import pytest

from marchwarden.extraction import Extractor, Unreadable
from tests.extraction import office_samples
from tests.extraction.hostile_office import HOSTILE_OFFICE

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def extractor() -> Iterator[Extractor]:
    with Extractor(workers=1, starting=30.0) as extractor:
        yield extractor


@pytest.mark.parametrize("kind", HOSTILE_OFFICE)
def test_hostile_file_has_one_reason_and_the_next_one_is_read(extractor: Extractor, kind: str) -> None:
    hostile = HOSTILE_OFFICE[kind]
    content = hostile.content()
    if hostile.reason:
        with pytest.raises(Unreadable) as refused:
            extractor.extract(content, hostile.name)
        assert refused.value.detail == hostile.reason
    else:
        extracted = extractor.extract(content, hostile.name)
        assert "root:" not in extracted.text
        assert extracted.text.count("ferry") <= 1
    assert "Petrel" in extractor.extract(office_samples.workbook(), "good.xlsx").text
