import pytest

from marchwarden.minds.extractive.opposites import has_opposite, is_negated
from marchwarden.text.languages import load


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("What is written around the foot of the mace?", "It is written around the head of the mace."),
        ("When did the Seven Day War end?", "The Six Day War ended in June."),
        ("Who is able to legislate on reserved matters?", "Parliament is unable to legislate on reserved matters."),
        ("What lies with US ministers?", "These functions lie with UK ministers."),
        ("Why did the price increase?", "The price decreased because of the glut."),
        ("Who was the last keeper?", "The first keeper was Orla Brandt."),
    ],
)
def test_opposites_are_detected(asked, said):
    assert has_opposite(asked, said)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Who was the last keeper?", "The last keeper followed the first in 1920."),
        ("Which French town is it?", "It is a town in France."),
        ("How many keepers were there?", "There were six keepers."),
        ("When did the price rise?", "Prices rose, and grew again, in 1974."),
    ],
)
def test_both_opposites_and_word_forms_are_not_conflicts(asked, said):
    assert not has_opposite(asked, said)


@pytest.mark.parametrize(
    ("text", "denies"),
    [("Who didn’t come?", True), ("What is not a prime?", True), ("Who came?", False), ("What is a knot?", False)],
)
def test_negations_are_detected_as_whole_words(text, denies):
    assert is_negated(text, load("en")) is denies
