"""Relations: what stands for what, and questions that lead through one to another."""

import pytest

from marchwarden.minds.extractive.synonyms import goes_through_another, related
from marchwarden.text.words import WordStemmer


def test_who_asks_for_a_husband_reads_of_a_marriage() -> None:
    stems = WordStemmer()
    assert "marri" in related(stems.content_stems("the husband of Ann Lee"), stems)["husband"]


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
def test_a_question_for_two_relations_goes_through_another(question: str, through: bool) -> None:
    stems = WordStemmer()
    assert goes_through_another(stems.content_stems(question), stems) is through
