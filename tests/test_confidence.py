from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.confidence import Rubric, recency
from marchwarden.contract import ConfidenceFactors

FACTORS = st.builds(
    ConfidenceFactors,
    num_corroborating_sources=st.integers(0, 50),
    source_authority=st.sampled_from(["high", "medium", "low", "unheard of"]),
    contradiction_detected=st.booleans(),
    query_specificity_match=st.floats(0, 1),
    budget_exhausted=st.booleans(),
    recency=st.sampled_from(["current", "recent", "dated", None]),
)


def changed(factors: ConfidenceFactors, **fields) -> float:
    return Rubric().score(factors.model_copy(update=fields))


@given(FACTORS)
def test_the_score_is_a_probability_and_moves_the_right_way_with_every_factor(factors):
    score = Rubric().score(factors)
    assert 0 <= score <= 1
    assert changed(factors, query_specificity_match=1.0) >= score >= changed(factors, query_specificity_match=0.0)
    assert changed(factors, num_corroborating_sources=factors.num_corroborating_sources + 1) >= score
    assert changed(factors, contradiction_detected=True) <= changed(factors, contradiction_detected=False)
    assert changed(factors, budget_exhausted=True) <= changed(factors, budget_exhausted=False)
    assert changed(factors, source_authority="high") >= changed(factors, source_authority="low")


@pytest.mark.parametrize(
    ("sources", "authority", "low", "high"),
    [(3, "high", 0.9, 1), (3, "medium", 0.7, 0.9), (1, "medium", 0.5, 0.7), (0, "high", 0, 0.5)],
)
def test_the_bands_of_the_contract_are_met_by_a_perfect_match(sources, authority, low, high):
    factors = ConfidenceFactors(
        num_corroborating_sources=sources,
        source_authority=authority,
        contradiction_detected=False,
        query_specificity_match=1.0,
        budget_exhausted=False,
    )
    assert low <= Rubric().score(factors) < high


@pytest.mark.parametrize(
    ("published", "expected"),
    [(date(2026, 6, 1), "current"), (date(2024, 6, 1), "recent"), (date(2001, 6, 1), "dated"), (None, None)],
)
def test_recency_is_measured_from_the_day_of_the_run(published, expected):
    assert recency(published, date(2026, 11, 1)) == expected
