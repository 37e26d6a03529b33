import pytest

from marchwarden.researchers.arxiv.withdrawal import is_withdrawn

TAKEN_BACK = [
    ("This paper has been withdrawn by the author due to a crucial sign error in equation 1", ""),
    ("Withdrawn", ""),
    ("withdrawn due to an error in the proof of Lemma 3", ""),
    ("Paper withdrawn by the authors", ""),
    ("12 pages. This submission was withdrawn by arXiv admins", ""),
    ("This article has been retracted", ""),
    ("I have withdrawn this paper as the main theorem is false", ""),
    ("", "This paper has been withdrawn by the authors. The result was known."),
    ("4 pages", "This manuscript is withdrawn because of a mistake in the experiment."),
    ("", "We claimed a proof. This paper has been withdrawn."),
]
ALIVE = [
    ("14 pages, 3 figures", "We measure the wind loads on the deck."),
    ("", "We study why papers are withdrawn from arXiv and how often retracted work is cited."),
    ("This paper was not withdrawn", ""),
    ("replaces withdrawn paper math/0309136", "A new proof."),
    ("", "Patients whose consent was withdrawn were left out. " + "The rest is a study of knees. " * 30),
    ("", "A long study. " * 40 + "This paper has been withdrawn from one journal and sent to another."),
    ("", "Water withdrawn by the city of Dorn reached a record."),
]


@pytest.mark.parametrize("comment, abstract", TAKEN_BACK)
def test_a_paper_taken_back_is_recognised(comment: str, abstract: str) -> None:
    assert is_withdrawn(comment, abstract)


@pytest.mark.parametrize("comment, abstract", ALIVE)
def test_a_paper_about_withdrawals_is_not_withdrawn(comment: str, abstract: str) -> None:
    assert not is_withdrawn(comment, abstract)
