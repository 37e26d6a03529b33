import pytest

from marchwarden.researchers.files.progress import Estimate, format_seconds


def test_time_left_is_estimated_from_the_speed_so_far() -> None:
    now = 100.0
    estimate = Estimate(lambda: now)
    assert str(estimate) == "checking the files for changes"
    estimate.update(0, 1_169)
    now += 2
    estimate.update(10, 1_169)
    assert str(estimate) == "indexing 10 of 1,169 files"
    now += 18
    estimate.update(587, 1_169)
    assert str(estimate) == "indexing 587 of 1,169 files, about 20 s left"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (119, "119 s"), (130, "2 min"), (3600, "60 min"), (8000, "2 h")]
)
def test_estimates_are_rounded(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text
