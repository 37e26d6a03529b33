"""Statements and the abbreviations their documents introduce."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.core.notebook import Document, Notebook
from marchwarden.minds.extractive.answerability import relevance_of
from marchwarden.minds.extractive.statements import (
    FIRST_LINES,
    FIRST_LINES_DIVISOR,
    expand_abbreviations,
    find_abbreviations,
)
from marchwarden.minds.extractive.survey import ScoredStatement, Survey, build_survey
from marchwarden.text.words import WordStemmer

FIRST = "We counted viruses among children in Ilorin."
LAST = "The germ seen most was a coronavirus."
LONG = FIRST_LINES * FIRST_LINES_DIVISOR

STEMS = WordStemmer()


def last_sentence(words_between: int, first: str = FIRST, title: str = "") -> tuple[Survey, ScoredStatement]:
    """Score the last sentence of a text of this length for a question that shares no word with it."""
    text = f"{first}\n\n# Results\n\n{'Nothing. ' * words_between}\n\n{LAST}\n"
    notebook = Notebook("Who fell ill in Ilorin?")
    notebook.add(Document("file", "report.txt", text.encode(), text, title=title))
    survey = build_survey(notebook, notebook.passages, WordStemmer())
    return survey, next(each for each in survey.ranked if each.statement.text == LAST)


def test_the_first_lines_of_a_long_document_set_its_topic():
    survey, last = last_sentence(LONG)
    unrelated, same = last_sentence(LONG, first="We counted lamps.")
    assert last.score.topic_coverage > same.score.topic_coverage == 0
    assert relevance_of(last, survey.question_scorer) > relevance_of(same, unrelated.question_scorer)


def test_the_first_lines_of_a_short_document_do_not_set_its_topic():
    assert "ilorin" not in last_sentence(10)[1].statement.context_stems


def test_the_answer_type_counts_if_only_the_title_matches():
    text = "She took off from Abingdon in 1936."
    notebook = Notebook("When did Beryl Markham fly?")
    notebook.add(Document("file", "one.txt", text.encode(), text, title="Beryl Markham"))
    assert build_survey(notebook, notebook.passages, WordStemmer()).ranked[0].score.type_match == 1


def expansions_asked_for(text: str, asked: str) -> dict[str, tuple[str, ...]]:
    return dict(find_abbreviations(text, frozenset(STEMS.content_stems(asked)), STEMS))


@pytest.mark.parametrize(
    ("text", "asked", "short"),
    [
        ("Recombinant viral particles (RVPs) were made.", "viral particles", "RVP"),
        ("Recombinant viral particles (RVPs) were made.", "viral particles", "RVPs"),
        ("The Venezuelan equine encephalitis virus ( VEEV ) spreads.", "equine encephalitis", "VEEV"),
        ("Small interfering RNAs (siRNAs) silence genes.", "small interfering RNA", "siRNA"),
        ("It fell under the Centers for Disease Control and Prevention (CDC, Atlanta).", "disease control", "CDC"),
    ],
)
def test_introduced_abbreviations_are_found(text, asked, short):
    found = expansions_asked_for(text, asked)
    assert found.get(STEMS.content_stems(short)[0]), found


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("He came home (Paris) at last.", "home at last"),
        ("It was cold (see Figure 2) and wet.", "cold and wet"),
        ("The old mill (OM) burned.", "price of bread"),
        ("(RVPs) were made of viral particles.", "viral particles"),
        ("Nothing is in brackets.", "brackets"),
        ("It was as of it (AOI) is.", "it is"),
        ("The harp stayed (RS) silent.", "harp stayed"),
        ("He stayed (ST) home.", "stayed"),
    ],
)
def test_other_brackets_and_unrelated_abbreviations_are_ignored(text, asked):
    assert expansions_asked_for(text, asked) == {}


def test_expanding_abbreviations_keeps_words_and_order():
    assert expand_abbreviations(("the", "rvp", "grew"), {"rvp": ("viral", "particl")}) == (
        "the",
        "rvp",
        "viral",
        "particl",
        "grew",
    )


@given(st.text(alphabet="aAbB ()-,;", max_size=400))
def test_arbitrary_text_yields_only_nonempty_abbreviations(text):
    for short, meant in find_abbreviations(text, frozenset("ab"), STEMS).items():
        assert short
        assert meant
