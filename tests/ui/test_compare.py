"""Differences between two results. Markers are compared by the source they refer to."""

from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import Citation, ConfidenceFactors, CostMetadata, ResearchResult
from marchwarden.ui.compare import MAX_TOKENS, Change, SourceState, compare_results, diff_words

WORDS = st.lists(st.sampled_from(["bridge", "1931", "1,5", "don't", " ", "\n\n", "é", "[1]", ".", "𝒳"])).map("".join)


def make_result(answer: str, *cited: tuple[str, str]) -> ResearchResult:
    return ResearchResult(
        answer=answer,
        citations=tuple(
            Citation(source="web", locator=locator, raw_excerpt=words, confidence=1, content_hash=f"{locator} {words}")
            for locator, words in cited
        ),
        confidence=0.5,
        confidence_factors=ConfidenceFactors(
            num_corroborating_sources=1,
            source_authority="low",
            contradiction_detected=False,
            query_specificity_match=1,
            budget_exhausted=False,
        ),
        cost_metadata=CostMetadata(
            tokens_used=1, iterations_run=1, wall_time_sec=1, budget_exhausted=False, model_id="m"
        ),
        trace_id="t",
    )


@given(WORDS | st.text(), WORDS | st.text())
def test_a_diff_contains_both_texts_completely(before, after):
    parts = diff_words(before, after)
    assert "".join(part.text for part in parts if part.change is not Change.ADDED) == before
    assert "".join(part.text for part in parts if part.change is not Change.REMOVED) == after
    assert all(part.text for part in parts)


@given(WORDS | st.text())
def test_identical_texts_have_no_changes(text):
    assert all(part.change is Change.KEPT for part in diff_words(text, text))


def test_a_marker_renumbered_for_the_same_source_is_not_a_change():
    before = make_result("It is long. [1]", ("a", "long"))
    after = make_result("It is long. [2]", ("b", "short"), ("a", "long"))
    found = compare_results(before, after)
    assert found.same_answer
    assert "".join(part.text for part in found.answer) == "It is long. [2]"
    swapped = compare_results(before, make_result("It is long. [1]", ("b", "long")))
    assert [part.text for part in swapped.answer if part.change is Change.REMOVED] == ["[1]"]


def test_every_source_is_listed_once_with_its_state():
    before = make_result("", ("gone", "x"), ("moved", "old"), ("same", "s"), ("same#L3", "t"))
    after = make_result("", ("same#L3", "t"), ("same", "s"), ("moved", "new"), ("fresh", "y"))
    found = compare_results(before, after)
    states = {source.locator: source.state for source in found.sources}
    assert states == {
        "fresh": SourceState.ADDED,
        "gone": SourceState.REMOVED,
        "moved": SourceState.CHANGED,
        "same": SourceState.SAME,
    }
    assert len(found.sources) == 4


def test_very_long_texts_are_not_compared_word_by_word():
    long = "word " * MAX_TOKENS
    removed, added = diff_words(long, f"{long}!")
    assert (removed.change, added.change) == (Change.REMOVED, Change.ADDED)
