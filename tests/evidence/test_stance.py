from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.evidence.stance import StanceClassifier
from marchwarden.text.words import WordStemmer

BRIDGE = "The Alder Bridge , opened in 1932 , is a steel bridge over the river Senn , designed by Maud Ferris ."


class Thesaurus:
    """A similarity that knows one pair of words."""

    def similar(self, question: str, texts: Sequence[str]) -> list[float]:
        return [0.9 if {question, text} == {"movie", "film"} else 0.0 for text in texts]


@pytest.mark.parametrize(
    "claim",
    [
        "The Alder Bridge was opened in 1932.",
        "The Alder Bridge was designed by Maud Ferris.",
        "The Alder Bridge is a bridge made of steel.",
        "The Alder Bridge was not designed by Joseph Strauss.",
        "The Alder Bridge was designed by someone other than Joseph Strauss.",
    ],
)
def test_what_the_evidence_repeats_is_supported_and_so_is_the_denial_of_what_it_does_not(claim: str) -> None:
    assert StanceClassifier(WordStemmer()).of(claim, BRIDGE).stance == "supports"


@pytest.mark.parametrize(
    "claim",
    [
        "The Alder Bridge was opened in 1937.",
        "The Alder Bridge was designed by Joseph Strauss.",
        "The Alder Bridge is a wooden tunnel.",
        "The Alder Bridge was never opened.",
        "The Alder Bridge is yet to be opened.",
    ],
)
def test_another_figure_name_or_kind_contradicts_and_so_does_a_denial(claim: str) -> None:
    assert StanceClassifier(WordStemmer()).of(claim, BRIDGE).stance == "contradicts"


@pytest.mark.parametrize(
    "claim, evidence, stance",
    [
        ("Coffee does not raise the risk.", "Coffee does not raise the risk.", "supports"),
        ("Coffee raises the risk.", "Coffee did not raise the risk at all.", "contradicts"),
        (
            "Valencia is the third largest city in Spain.",
            "Valencia is the third smallest city in Spain.",
            "contradicts",
        ),
        ("The couple had children.", "The couple stayed childless.", "contradicts"),
        ("He was involved in politics.", "He was an American politician.", "supports"),
    ],
)
def test_denials_opposites_and_common_roots_are_understood(claim: str, evidence: str, stance: str) -> None:
    assert StanceClassifier(WordStemmer()).of(claim, evidence).stance == stance


def test_a_denial_of_something_else_denies_nothing() -> None:
    evidence = "Not liked by the press of its day when it was shown for the first time abroad, Daag is a film."
    assert StanceClassifier(WordStemmer()).of("Daag is a film.", evidence).stance == "supports"


def test_another_word_of_the_same_meaning_meets_a_claim_only_where_meaning_is_known() -> None:
    claim, evidence = "Daag is a movie.", "Daag is a film by Yash Chopra."
    assert StanceClassifier(WordStemmer()).of(claim, evidence).stance == "contradicts"
    assert StanceClassifier(WordStemmer(), Thesaurus()).of(claim, evidence).stance == "supports"


def test_the_words_that_are_not_met_are_told() -> None:
    assert StanceClassifier(WordStemmer()).of("Daag is an old painting.", "Daag is an old film.").unmet == ("painting",)


@given(st.text(max_size=120), st.text(max_size=120))
def test_any_two_texts_get_a_verdict(claim: str, evidence: str) -> None:
    verdict = StanceClassifier(WordStemmer()).of(claim, evidence)
    assert verdict.weight >= 0
    assert verdict == StanceClassifier(WordStemmer()).of(claim, evidence)
