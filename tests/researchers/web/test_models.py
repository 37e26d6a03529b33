import pytest

from marchwarden.core.notebook import Query
from marchwarden.researchers.web.models import Span, span_of


@pytest.mark.parametrize(
    ("asked", "span"),
    [
        ("breaking news alder bridge", Span.DAY),
        ("floods this week", Span.WEEK),
        ("what is mortar used for today", Span.MONTH),
        ("Latest toll of the Alder Bridge", Span.YEAR),
        ("tolls this year", Span.YEAR),
        ("electric current of the relatest machine", None),
        ("who designed the Alder Bridge", None),
    ],
)
def test_a_question_about_now_wants_recent_pages(asked: str, span: Span | None) -> None:
    assert span_of(Query(asked)) is span
    assert span_of(Query("alder bridge", aspect=asked)) is span
