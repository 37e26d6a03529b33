import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.minds.extractive.aspects import MOST_ASPECTS, split_aspects, unanswered_aspects
from marchwarden.text.words import WordStemmer


@pytest.mark.parametrize(
    "question, aspects",
    [
        ("Who wrote Rosencrantz and Guildenstern Are Dead?", ("Who wrote Rosencrantz and Guildenstern Are Dead?",)),
        ("Who built it and when did Ann leave?", ("Who built it", "when did Ann leave")),
        ("Who founded Acme and when was it sold?", ("Who founded Acme", "when was it sold (Acme)")),
        ("Who invented the press; in what year?", ("Who invented the press", "in what year (Who invented the press)")),
        ("Who is older, Ann Lee or Bob Ray?", ("Who is older, Ann Lee?", "Who is older, Bob Ray?")),
        ("What is the difference between a mind and a source?", ("What is the mind?", "What is the source?")),
        ("Who designed Alder, how long is it?", ("Who designed Alder", "how long is it (Alder)")),
        ("Who was Ann Lee, who left Dorn?", ("Who was Ann Lee, who left Dorn?",)),
        ("What happened between 1763 and 1775?", ("What happened between 1763 and 1775?",)),
    ],
)
def test_questions_are_split_at_further_questions_and_comparisons(question: str, aspects: tuple[str, ...]) -> None:
    assert split_aspects(question) == aspects


def test_aspects_answered_by_the_context_are_dropped() -> None:
    aspects = ("Who built the tower", "when was the tower opened")
    assert unanswered_aspects(aspects, "The tower was built by Ann Lee.", WordStemmer()) == (
        "when was the tower opened",
    )


def test_a_context_that_answers_everything_drops_no_aspect() -> None:
    assert unanswered_aspects(("Who built the tower",), "The tower was built by Ann Lee.", WordStemmer()) == (
        "Who built the tower",
    )


@given(st.text(min_size=1, max_size=500))
def test_every_question_has_between_one_and_the_maximum_of_aspects(question: str) -> None:
    assert 1 <= len(split_aspects(question)) <= MOST_ASPECTS
