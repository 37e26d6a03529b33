from dataclasses import fields

import pytest

from marchwarden.core.notebook import Document, Notebook
from marchwarden.minds.extractive.answerability import AnswerSigns, find_signs, overall_match, sign_weights
from marchwarden.minds.extractive.survey import Survey, build_survey
from marchwarden.text.words import WordStemmer

ANSWERS = "The lighthouse of Skarn was built by Orla Brandt in 1874. It was painted white and stands on the north cape."


def survey(question: str, text: str) -> Survey:
    notebook = Notebook(question, aspects=(question,))
    notebook.add(Document("file", "skarn.txt", text.encode(), text, title="Skarn"))
    return build_survey(notebook, notebook.passages, WordStemmer())


def match(question: str, text: str = ANSWERS) -> float:
    return overall_match(survey(question, text))


def best_signs(question: str, text: str) -> AnswerSigns:
    found = survey(question, text)
    return find_signs(found, found.question_scorer, found.ranked[0])


def test_every_sign_has_a_weight_and_every_weight_a_sign():
    known = {"bias", *(each.name for each in fields(AnswerSigns))}
    assert set(sign_weights(by_meaning=True)) == known
    assert set(sign_weights(by_meaning=False)) == known - {"similarity", "passage_similarity"}


@pytest.mark.parametrize(
    "near_miss",
    [
        "Who did not build the lighthouse of Skarn?",
        "Who built the lighthouse of Fenmoor?",
        "Who built the lighthouse of Skarn in 1921?",
        "Who painted the lighthouse of Skarn black?",
    ],
)
def test_a_near_miss_matches_less_than_the_answered_question(near_miss):
    assert match(near_miss) < match("Who built the lighthouse of Skarn?")


def test_an_unrelated_question_has_a_low_match():
    assert match("Which moon of Jupiter is the densest?") < 0.2
    assert match("Who built the lighthouse of Skarn?", "") == 0.0


def test_a_missing_date_lowers_the_match():
    told = match("When was the lighthouse of Skarn built?")
    assert match("When was the lighthouse of Skarn built?", "The lighthouse of Skarn was built by hand.") < told


def test_negation_mismatch_is_set_only_if_the_sentence_is_not_negated():
    asked = "Who did not build the lighthouse of Skarn?"
    assert best_signs(asked, ANSWERS).negation_mismatch == 1
    assert best_signs(asked, ANSWERS.replace("built by", "not built by")).negation_mismatch == 0
