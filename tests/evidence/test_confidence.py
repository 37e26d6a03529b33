from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import ConfidenceFactors
from marchwarden.errors import InvalidInput
from marchwarden.evidence.confidence import RUBRIC_FILE, Rubric, recency

FACTORS = st.builds(
    ConfidenceFactors,
    num_corroborating_sources=st.integers(0, 50),
    source_authority=st.sampled_from(["high", "medium", "low", "unheard of"]),
    contradiction_detected=st.booleans(),
    query_specificity_match=st.floats(0, 1),
    budget_exhausted=st.booleans(),
    recency=st.sampled_from(["current", "recent", "dated", None]),
)


def with_changes(factors: ConfidenceFactors, **fields: object) -> ConfidenceFactors:
    return factors.model_copy(update=fields)


def changed(factors: ConfidenceFactors, **fields) -> float:
    return Rubric.shipped().score(with_changes(factors, **fields))


@given(FACTORS)
def test_the_score_is_a_probability_and_monotone_in_every_factor(factors):
    score = Rubric.shipped().score(factors)
    assert 0 <= score <= 1
    assert changed(factors, query_specificity_match=1.0) >= score >= changed(factors, query_specificity_match=0.0)
    assert changed(factors, num_corroborating_sources=factors.num_corroborating_sources + 1) >= score
    assert changed(factors, contradiction_detected=True) <= changed(factors, contradiction_detected=False)
    assert changed(factors, budget_exhausted=True) <= changed(factors, budget_exhausted=False)
    assert changed(factors, source_authority="high") >= changed(factors, source_authority="low")
    assert changed(factors, recency="current") >= changed(factors, recency="dated")


@pytest.mark.parametrize(
    ("sources", "authority", "low", "high"),
    [(3, "high", 0.9, 1), (1, "high", 0.5, 0.9), (1, "medium", 0.5, 0.9), (1, "low", 0.5, 0.9), (0, "high", 0, 0.5)],
)
def test_high_confidence_needs_several_sources(sources, authority, low, high):
    factors = ConfidenceFactors(
        num_corroborating_sources=sources,
        source_authority=authority,
        contradiction_detected=False,
        query_specificity_match=1.0,
        budget_exhausted=False,
    )
    assert low <= Rubric.shipped().score(factors) < high


def test_a_rubric_round_trips_through_toml(tmp_path):
    rubric = Rubric.shipped().with_weights({"match": 0.5}, 'of "ours"')
    (tmp_path / RUBRIC_FILE).write_text(rubric.to_toml(), encoding="utf-8")
    assert Rubric.load(tmp_path) == rubric != Rubric.shipped()


def test_a_folder_without_a_rubric_uses_the_shipped_one(tmp_path):
    assert Rubric.load(tmp_path) == Rubric.shipped()


def test_a_trace_without_a_rubric_uses_the_shipped_one():
    assert Rubric.from_trace(None) == Rubric.shipped()
    assert Rubric.from_trace(dict(Rubric.shipped().to_json())) == Rubric.shipped()


@pytest.mark.parametrize("text", ["", "match = 'much'", "match = [", 'version = "half"'])
def test_an_invalid_rubric_file_is_rejected(tmp_path, text):
    (tmp_path / RUBRIC_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"is not (valid TOML|a valid rubric)"):
        Rubric.load(tmp_path)


def test_a_rubric_that_rewards_contradictions_is_rejected(tmp_path):
    text = Rubric.shipped().to_toml().replace("contradiction = -", "contradiction = ")
    (tmp_path / RUBRIC_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match="contradiction"):
        Rubric.load(tmp_path)


@pytest.mark.parametrize(
    ("published", "expected"),
    [(date(2026, 6, 1), "current"), (date(2024, 6, 1), "recent"), (date(2001, 6, 1), "dated"), (None, None)],
)
def test_recency_is_measured_from_the_day_of_the_run(published, expected):
    assert recency(published, date(2026, 11, 1)) == expected
