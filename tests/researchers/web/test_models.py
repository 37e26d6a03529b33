import pytest

from marchwarden.core.notebook import Query
from marchwarden.researchers.web.models import TimeRange, time_range_of


@pytest.mark.parametrize(
    ("asked", "time_range"),
    [
        ("breaking news alder bridge", TimeRange.DAY),
        ("floods this week", TimeRange.WEEK),
        ("what is mortar used for today", TimeRange.MONTH),
        ("Latest toll of the Alder Bridge", TimeRange.YEAR),
        ("tolls this year", TimeRange.YEAR),
        ("electric current of the relatest machine", None),
        ("who designed the Alder Bridge", None),
    ],
)
def test_questions_about_the_present_get_a_time_range(asked: str, time_range: TimeRange | None) -> None:
    assert time_range_of(Query(asked)) is time_range
    assert time_range_of(Query("alder bridge", aspect=asked)) is time_range
