from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import ConfidenceFactors
from marchwarden.evaluation.calibration import ConfidenceOutcome, calibration_error
from marchwarden.evidence.calibrate import Weighed, calibrated
from marchwarden.evidence.confidence import Rubric
from tests.evidence.test_confidence import FACTORS, with_changes

WEIGHED = st.lists(st.builds(Weighed, FACTORS, st.booleans()), max_size=25)


def matched(match: float, *, contradicted: bool = False) -> ConfidenceFactors:
    return ConfidenceFactors(
        num_corroborating_sources=1,
        source_authority="medium",
        contradiction_detected=contradicted,
        query_specificity_match=match,
        budget_exhausted=False,
    )


def overrated(times: int = 400) -> list[Weighed]:
    """What matched with 0.9 was right half of the time, and with 0.2 hardly ever."""
    dice = Random(3)
    kinds = ((0.9, 0.5), (0.2, 0.05))
    return [Weighed(matched(match), dice.random() < truth) for match, truth in kinds for _ in range(times)]


def error(rubric: Rubric, weighed: list[Weighed]) -> float:
    return calibration_error([ConfidenceOutcome(rubric.score(each.factors), each.right) for each in weighed]) or 0.0


def test_a_rubric_learns_how_often_a_match_was_right():
    weighed = overrated()
    new = calibrated(Rubric.shipped(), weighed, "mine")
    assert error(new, weighed) < 0.05 < error(Rubric.shipped(), weighed)
    assert new.score(matched(0.9)) == pytest.approx(0.5, abs=0.06)


def test_what_was_not_measured_keeps_its_worth():
    new, old = calibrated(Rubric.shipped(), overrated(), "mine"), Rubric.shipped()
    assert (new.high_authority, new.contradiction, new.dated) == (old.high_authority, old.contradiction, old.dated)


def test_contradictions_that_happened_to_be_right_do_not_make_a_contradiction_a_merit():
    lucky = [Weighed(matched(0.5, contradicted=True), True) for _ in range(200)]
    lucky += [Weighed(matched(0.5), False) for _ in range(200)]
    new = calibrated(Rubric.shipped(), lucky, "lucky")
    assert new.score(matched(0.5, contradicted=True)) <= new.score(matched(0.5))


@given(WEIGHED, FACTORS)
def test_whatever_it_learned_from_a_rubric_moves_the_right_way(weighed, factors):
    rubric = calibrated(Rubric.shipped(), weighed, "any")
    score = rubric.score(factors)
    more = factors.num_corroborating_sources + 1
    assert rubric.score(with_changes(factors, num_corroborating_sources=more)) >= score
    assert rubric.score(with_changes(factors, contradiction_detected=True)) <= score or factors.contradiction_detected
    assert rubric.score(with_changes(factors, query_specificity_match=1.0)) >= score
