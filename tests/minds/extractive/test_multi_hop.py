"""Related words, and questions that need a second document."""

import pytest

from marchwarden.minds.extractive.multi_hop import asks_two_relations, related_words
from marchwarden.text.words import WordStemmer


def test_husband_is_related_to_married() -> None:
    stems = WordStemmer()
    assert "marri" in related_words(stems.content_stems("the husband of Ann Lee"), stems)["husband"]


@pytest.mark.parametrize(
    ("question", "through"),
    [
        ("Where was the director of the film Alder born?", True),
        ("Who is the spouse of the composer of Alder?", True),
        ("Where did Ann Lee's husband die?", True),
        ("Who directed the film Alder?", False),
        ("When was Ann Lee born?", False),
        ("What birthplace had Ann, where was she born?", False),
    ],
)
def test_questions_that_chain_two_relations_are_detected(question: str, through: bool) -> None:
    stems = WordStemmer()
    assert asks_two_relations(stems.content_stems(question), stems) is through
