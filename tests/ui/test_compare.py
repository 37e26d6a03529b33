"""Differences between two results: nothing lost, nothing invented, markers by what they lead to."""

from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import Citation, ConfidenceFactors, CostMetadata, ResearchResult
from marchwarden.ui.compare import MOST_TOKENS, Change, Standing, compared, words_changed

WORDS = st.lists(st.sampled_from(["bridge", "1931", "1,5", "don't", " ", "\n\n", "é", "[1]", ".", "𝒳"])).map("".join)


def result(answer: str, *cited: tuple[str, str]) -> ResearchResult:
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
def test_what_was_kept_and_removed_is_the_earlier_text_and_what_was_kept_and_added_the_later(before, after):
    pieces = words_changed(before, after)
    assert "".join(piece.text for piece in pieces if piece.change is not Change.ADDED) == before
    assert "".join(piece.text for piece in pieces if piece.change is not Change.REMOVED) == after
    assert all(piece.text for piece in pieces)


@given(WORDS | st.text())
def test_the_same_text_has_no_changes(text):
    assert all(piece.change is Change.KEPT for piece in words_changed(text, text))


def test_a_marker_with_another_number_that_leads_to_the_same_place_is_no_change():
    before = result("It is long. [1]", ("a", "long"))
    after = result("It is long. [2]", ("b", "short"), ("a", "long"))
    found = compared(before, after)
    assert found.same_answer
    assert "".join(piece.text for piece in found.answer) == "It is long. [2]"
    swapped = compared(before, result("It is long. [1]", ("b", "long")))
    assert [piece.text for piece in swapped.answer if piece.change is Change.REMOVED] == ["[1]"]


def test_every_source_stands_once_and_in_one_way():
    before = result("", ("gone", "x"), ("moved", "old"), ("same", "s"), ("same#L3", "t"))
    after = result("", ("same#L3", "t"), ("same", "s"), ("moved", "new"), ("fresh", "y"))
    found = compared(before, after)
    standings = {source.locator: source.standing for source in found.sources}
    assert standings == {
        "fresh": Standing.ADDED,
        "gone": Standing.REMOVED,
        "moved": Standing.CHANGED,
        "same": Standing.SAME,
    }
    assert len(found.sources) == 4


def test_texts_nobody_would_read_word_by_word_are_given_whole():
    long = "word " * MOST_TOKENS
    removed, added = words_changed(long, f"{long}!")
    assert (removed.change, added.change) == (Change.REMOVED, Change.ADDED)
