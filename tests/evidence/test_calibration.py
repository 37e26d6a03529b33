import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import ConfidenceFactors
from marchwarden.evaluation.calibration import ConfidenceOutcome, calibration_error
from marchwarden.evidence.calibration import LabelledExample, LabelledFactors, Weight, calibrate_rubric, fit, logistic
from marchwarden.evidence.confidence import Rubric
from tests.evidence.test_confidence import FACTORS, with_changes

OUTCOMES = st.lists(
    st.builds(
        LabelledExample,
        st.fixed_dictionaries({"bias": st.just(1.0), "one": st.floats(-3, 3), "other": st.floats(0, 1)}),
        st.booleans(),
    ),
    max_size=30,
)

LABELLED = st.lists(st.builds(LabelledFactors, FACTORS, st.booleans()), max_size=25)


def drawn(bias: float, slope: float, times: int = 3000) -> list[LabelledExample]:
    """Draw examples from a known model."""
    random = Random(7)
    amounts = [random.uniform(-2, 2) for _ in range(times)]
    return [LabelledExample({"bias": 1.0, "one": x}, random.random() < logistic(bias + slope * x)) for x in amounts]


def test_fit_recovers_the_weights_of_a_known_model():
    found = fit(drawn(-0.5, 1.5), {"bias": Weight(prior_strength=0.0), "one": Weight(prior_strength=0.0)})
    assert abs(found["bias"] + 0.5) < 0.15
    assert abs(found["one"] - 1.5) < 0.15


@given(OUTCOMES)
def test_weights_stay_within_their_bounds(outcomes):
    found = fit(outcomes, {"bias": Weight(), "one": Weight(0.5, low=0.0), "other": Weight(-0.5, high=0.0)})
    assert found["one"] >= 0 >= found["other"]
    assert all(map(math.isfinite, found.values()))


def test_a_weight_without_data_keeps_its_start_value():
    outcomes = [LabelledExample({"bias": 1.0, "one": 0.0}, right) for right in (True, False, True)]
    assert fit(outcomes, {"bias": Weight(), "one": Weight(0.7)})["one"] == 0.7


def test_an_example_with_weight_two_equals_two_examples():
    twice = [LabelledExample({"bias": 1.0}, True, counts=2.0), LabelledExample({"bias": 1.0}, False)]
    two = [LabelledExample({"bias": 1.0}, True)] * 2 + [LabelledExample({"bias": 1.0}, False)]
    weights = {"bias": Weight()}
    assert math.isclose(fit(twice, weights)["bias"], fit(two, weights)["bias"], abs_tol=1e-6)


def matched(match: float, *, contradicted: bool = False) -> ConfidenceFactors:
    return ConfidenceFactors(
        num_corroborating_sources=1,
        source_authority="medium",
        contradiction_detected=contradicted,
        query_specificity_match=match,
        budget_exhausted=False,
    )


def overrated(times: int = 400) -> list[LabelledFactors]:
    """Results with a match of 0.9 were right half of the time, those with 0.2 almost never."""
    random = Random(3)
    kinds = ((0.9, 0.5), (0.2, 0.05))
    return [LabelledFactors(matched(match), random.random() < truth) for match, truth in kinds for _ in range(times)]


def error(rubric: Rubric, labelled: list[LabelledFactors]) -> float:
    return calibration_error([ConfidenceOutcome(rubric.score(each.factors), each.right) for each in labelled]) or 0.0


def test_calibration_learns_how_often_a_match_was_right():
    labelled = overrated()
    new = calibrate_rubric(Rubric.shipped(), labelled, "mine")
    assert error(new, labelled) < 0.05 < error(Rubric.shipped(), labelled)
    assert new.score(matched(0.9)) == pytest.approx(0.5, abs=0.06)


def test_factors_without_data_keep_their_weight():
    new, old = calibrate_rubric(Rubric.shipped(), overrated(), "mine"), Rubric.shipped()
    assert (new.high_authority, new.contradiction, new.dated) == (old.high_authority, old.contradiction, old.dated)


def test_contradictions_never_raise_the_score_even_if_they_were_right():
    lucky = [LabelledFactors(matched(0.5, contradicted=True), True) for _ in range(200)]
    lucky += [LabelledFactors(matched(0.5), False) for _ in range(200)]
    new = calibrate_rubric(Rubric.shipped(), lucky, "lucky")
    assert new.score(matched(0.5, contradicted=True)) <= new.score(matched(0.5))


@given(LABELLED, FACTORS)
def test_every_calibrated_rubric_is_monotone(labelled, factors):
    rubric = calibrate_rubric(Rubric.shipped(), labelled, "any")
    score = rubric.score(factors)
    more = factors.num_corroborating_sources + 1
    assert rubric.score(with_changes(factors, num_corroborating_sources=more)) >= score
    assert rubric.score(with_changes(factors, contradiction_detected=True)) <= score or factors.contradiction_detected
    assert rubric.score(with_changes(factors, query_specificity_match=1.0)) >= score
