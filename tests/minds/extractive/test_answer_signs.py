from dataclasses import fields

import pytest

from marchwarden.core.notebook import Document, Notebook
from marchwarden.minds.extractive.answer_signs import AnswerSigns, signs, worths
from marchwarden.minds.extractive.answerability import overall_match
from marchwarden.minds.extractive.survey import Survey, surveyed
from marchwarden.text.words import WordStemmer

ANSWERS = "The lighthouse of Skarn was built by Orla Brandt in 1874. It was painted white and stands on the north cape."


def survey(question: str, text: str) -> Survey:
    notebook = Notebook(question, aspects=(question,))
    notebook.add(Document("file", "skarn.txt", text.encode(), text, title="Skarn"))
    return surveyed(notebook, notebook.passages, WordStemmer())


def match(question: str, text: str = ANSWERS) -> float:
    return overall_match(survey(question, text))


def best_signs(question: str, text: str) -> AnswerSigns:
    found = survey(question, text)
    return signs(found, found.whole, found.ranked[0])


def test_every_sign_has_its_worth_and_no_worth_is_without_its_sign():
    known = {"bias", *(each.name for each in fields(AnswerSigns))}
    assert set(worths(by_meaning=True)) == known
    assert set(worths(by_meaning=False)) == known - {"meant", "meant_around"}


@pytest.mark.parametrize(
    "near_miss",
    [
        "Who did not build the lighthouse of Skarn?",
        "Who built the lighthouse of Fenmoor?",
        "Who built the lighthouse of Skarn in 1921?",
        "Who painted the lighthouse of Skarn black?",
    ],
)
def test_a_question_turned_by_one_word_is_met_less_than_the_one_that_is_answered(near_miss):
    assert match(near_miss) < match("Who built the lighthouse of Skarn?")


def test_what_nothing_speaks_of_is_not_answered():
    assert match("Which moon of Jupiter is the densest?") < 0.2
    assert match("Who built the lighthouse of Skarn?", "") == 0.0


def test_a_figure_that_is_asked_for_must_be_there():
    told = match("When was the lighthouse of Skarn built?")
    assert match("When was the lighthouse of Skarn built?", "The lighthouse of Skarn was built by hand.") < told


def test_a_denial_tells_against_a_sentence_that_does_not_share_it():
    asked = "Who did not build the lighthouse of Skarn?"
    assert best_signs(asked, ANSWERS).denial == 1
    assert best_signs(asked, ANSWERS.replace("built by", "not built by")).denial == 0
