from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import ConfidenceFactors
from marchwarden.errors import InvalidInput
from marchwarden.evidence.confidence import KEPT, Rubric, recency

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
def test_the_score_is_a_probability_and_moves_the_right_way_with_every_factor(factors):
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
def test_a_perfect_match_is_sure_only_where_several_sources_agree(sources, authority, low, high):
    factors = ConfidenceFactors(
        num_corroborating_sources=sources,
        source_authority=authority,
        contradiction_detected=False,
        query_specificity_match=1.0,
        budget_exhausted=False,
    )
    assert low <= Rubric.shipped().score(factors) < high


def test_a_rubric_survives_its_own_file(tmp_path):
    rubric = Rubric.shipped().with_worths({"match": 0.5}, 'of "ours"')
    (tmp_path / KEPT).write_text(rubric.toml(), encoding="utf-8")
    assert Rubric.kept_in(tmp_path) == rubric != Rubric.shipped()


def test_a_folder_without_a_rubric_is_scored_by_the_one_that_is_shipped(tmp_path):
    assert Rubric.kept_in(tmp_path) == Rubric.shipped()


def test_a_trace_that_tells_no_rubric_is_scored_by_the_one_that_is_shipped():
    assert Rubric.again(None) == Rubric.shipped()
    assert Rubric.again(dict(Rubric.shipped().told())) == Rubric.shipped()


@pytest.mark.parametrize("text", ["", "match = 'much'", "match = [", 'version = "half"'])
def test_a_file_that_is_no_rubric_is_refused(tmp_path, text):
    (tmp_path / KEPT).write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match="is no rubric"):
        Rubric.kept_in(tmp_path)


def test_a_rubric_that_rewards_contradictions_is_refused(tmp_path):
    text = Rubric.shipped().toml().replace("contradiction = -", "contradiction = ")
    (tmp_path / KEPT).write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match="contradiction"):
        Rubric.kept_in(tmp_path)


@pytest.mark.parametrize(
    ("published", "expected"),
    [(date(2026, 6, 1), "current"), (date(2024, 6, 1), "recent"), (date(2001, 6, 1), "dated"), (None, None)],
)
def test_recency_is_measured_from_the_day_of_the_run(published, expected):
    assert recency(published, date(2026, 11, 1)) == expected
