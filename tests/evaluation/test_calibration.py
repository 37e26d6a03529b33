import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.evaluation.calibration import ConfidenceOutcome, calibration_error, reliability

OUTCOMES = st.lists(st.builds(ConfidenceOutcome, st.floats(0, 1), st.booleans()), min_size=1)


def test_no_outcomes_give_no_error_and_no_bins():
    assert calibration_error([]) is None
    assert reliability([]) == ()


def test_error_is_the_gap_of_each_bin_weighted_by_count():
    outcomes = [
        ConfidenceOutcome(0.9, True),
        ConfidenceOutcome(0.9, True),
        ConfidenceOutcome(0.95, False),
        ConfidenceOutcome(0.1, False),
    ]
    sure = (0.9 + 0.9 + 0.95) / 3
    assert calibration_error(outcomes) == pytest.approx((3 * abs(sure - 2 / 3) + 1 * 0.1) / 4)


def test_bins_include_their_lower_edge_and_the_last_includes_one():
    bins = reliability([ConfidenceOutcome(0.1, True), ConfidenceOutcome(1.0, True), ConfidenceOutcome(0.95, False)])
    assert [(each.low, each.high, each.count, each.right) for each in bins] == [(0.1, 0.2, 1, 1.0), (0.9, 1.0, 2, 0.5)]


@given(OUTCOMES)
def test_every_outcome_is_in_one_bin_and_the_error_is_at_most_one(outcomes):
    bins = reliability(outcomes)
    assert sum(each.count for each in bins) == len(outcomes)
    error = calibration_error(outcomes)
    assert error is not None and 0 <= error <= 1


@given(OUTCOMES)
def test_error_of_a_single_bin_is_the_gap_of_the_means(outcomes):
    sure = sum(each.confidence for each in outcomes) / len(outcomes)
    right = sum(each.right for each in outcomes) / len(outcomes)
    assert calibration_error(outcomes, bins=1) == pytest.approx(abs(sure - right))
