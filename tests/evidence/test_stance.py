from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.evidence.stance import StanceClassifier
from marchwarden.text.words import WordStemmer

BRIDGE = "The Alder Bridge , opened in 1932 , is a steel bridge over the river Senn , designed by Maud Ferris ."


class Thesaurus:
    """A similarity that knows one pair of synonyms."""

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
def test_repeated_claims_and_negated_absent_claims_are_supported(claim: str) -> None:
    assert StanceClassifier(WordStemmer()).classify(claim, BRIDGE).stance == "supports"


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
def test_another_figure_name_or_kind_or_a_negation_contradicts(claim: str) -> None:
    assert StanceClassifier(WordStemmer()).classify(claim, BRIDGE).stance == "contradicts"


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
    assert StanceClassifier(WordStemmer()).classify(claim, evidence).stance == stance


def test_a_distant_negation_is_ignored() -> None:
    evidence = "Not liked by the press of its day when it was shown for the first time abroad, Daag is a film."
    assert StanceClassifier(WordStemmer()).classify("Daag is a film.", evidence).stance == "supports"


def test_synonyms_match_only_with_a_similarity() -> None:
    claim, evidence = "Daag is a movie.", "Daag is a film by Yash Chopra."
    assert StanceClassifier(WordStemmer()).classify(claim, evidence).stance == "contradicts"
    assert StanceClassifier(WordStemmer(), Thesaurus()).classify(claim, evidence).stance == "supports"


def test_unmatched_words_are_listed() -> None:
    assert StanceClassifier(WordStemmer()).classify("Daag is an old painting.", "Daag is an old film.").unmet == (
        "painting",
    )


@given(st.text(max_size=120), st.text(max_size=120))
def test_any_two_texts_get_a_verdict(claim: str, evidence: str) -> None:
    verdict = StanceClassifier(WordStemmer()).classify(claim, evidence)
    assert verdict.weight >= 0
    assert verdict == StanceClassifier(WordStemmer()).classify(claim, evidence)
