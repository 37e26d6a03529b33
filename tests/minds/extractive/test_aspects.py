import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.minds.extractive.aspects import MOST_ASPECTS, aspects_of, unanswered
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
def test_a_question_is_taken_apart_where_it_asks_anew_or_compares(question: str, aspects: tuple[str, ...]) -> None:
    assert aspects_of(question) == aspects


def test_an_aspect_the_context_answers_is_dropped() -> None:
    aspects = ("Who built the tower", "when was the tower opened")
    assert unanswered(aspects, "The tower was built by Ann Lee.", WordStemmer()) == ("when was the tower opened",)


def test_a_context_that_leaves_nothing_open_drops_nothing() -> None:
    assert unanswered(("Who built the tower",), "The tower was built by Ann Lee.", WordStemmer()) == (
        "Who built the tower",
    )


@given(st.text(min_size=1, max_size=500))
def test_every_question_has_aspects_and_not_too_many(question: str) -> None:
    assert 1 <= len(aspects_of(question)) <= MOST_ASPECTS
