"""Recognising the kind of answer a question asks for."""

import pytest

from marchwarden.minds.extractive.answer_in_language import NOT_ASKED
from marchwarden.minds.extractive.answer_type import OTHER_UNIT, match_answer_type
from marchwarden.minds.extractive.question import AnswerType, parse_question
from marchwarden.text.words import WordStemmer


def type_match(question: str, sentence: str) -> float:
    return match_answer_type(parse_question(question, WordStemmer()), sentence)


@pytest.mark.parametrize(
    ("question", "answer", "other_unit"),
    [
        ("How many arches does the bridge have?", "It stands on 12 brick arches.", "It was opened in 1894."),
        ("What is the mortality rate in adults?", "It kills 10 % of adults.", "It was seen in 35 adults."),
        ("How much did the bridge cost, at what price?", "It cost £3 million.", "It took 3 years to build."),
        ("How old was she?", "She was 41 years of age.", "She wrote 41 novels."),
        ("How high is the tower?", "The tower rises 324 metres.", "The tower has 1,665 steps."),
        ("How long is the span?", "It reaches 212 metres.", "It has 212 lamps."),
        ("How often do they meet?", "They meet twice a year.", "They met 12 men."),
        ("How many cylinders does it have?", "It is a 5-cylinder engine.", "It reaches 30 % of that."),
    ],
)
def test_a_number_scores_fully_only_with_the_unit_asked_for(question, answer, other_unit):
    assert type_match(question, answer) == 1
    assert type_match(question, other_unit) == OTHER_UNIT


@pytest.mark.parametrize(
    "sentence",
    [
        "To cross the river, ring the bell.",
        "You can cross at noon.",
        "Use the ferry.",
        "`ferry cross` does it.",
        "By rowing.",
    ],
)
def test_how_to_questions_expect_instructions(sentence):
    assert type_match("How do I cross the river?", sentence) == 1
    assert type_match("How do I cross the river?", "Many people cross the river.") == 0
    assert type_match("How did they cross the river?", sentence) == NOT_ASKED


def test_any_number_scores_fully_if_no_unit_is_asked_for():
    assert type_match("How many of the?", "There were 12.") == 1


def test_a_number_from_the_question_is_not_an_answer():
    assert type_match("How many of the 12 arches fell?", "Of the 12 arches many fell.") == 0


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What is hepcidin?", "Hepcidin is a peptide hormone."),
        ("What is HTS?", "They were found by a high-throughput screening (HTS) of drugs."),
        ("What is an ELISA?", "Samples went through an ELISA (enzyme-linked immunosorbent assay)."),
        ("What is the acronym HTS?", "They were found by a high-throughput screening (HTS) of drugs."),
        ("What does GDP stand for?", "GDP stands for gross domestic product."),
        ("What is a mind?", "A **mind** decides what to search for."),
        ("Define a caisson", "A caisson, in a word, holds. A caisson is a watertight chamber."),
    ],
)
def test_definitions_are_recognised_by_their_form(question, sentence):
    assert type_match(question, sentence) == 1


def test_sentences_about_a_term_score_below_its_definition():
    assert type_match("What is hepcidin?", "Increased hepcidin concentrations are a sign of infection.") == 0.5
    assert type_match("What is hepcidin?", "Iron was low.") < 0.5


@pytest.mark.parametrize(
    ("question", "answer", "no_answer"),
    [
        ("Who designed the bridge?", "It was designed by Mara Lind.", "It was designed in a hurry."),
        ("Who told the press?", "The press was told by the CDC.", "The press was told by `report TRACE_ID`."),
        ("Where does the river rise?", "It rises in Moravia.", "It rises every spring."),
        ("When was the bridge opened?", "It was opened in 1894.", "It was opened by a duke."),
        ("When was the duchy founded?", "It was founded in 911.", "It was founded with 911 men."),
        ("What day of the week is it held?", "It is held on Wednesdays.", "It is held in a hall."),
        ("How many empires were there?", "There were dozens of empires.", "Empires rose and fell."),
        ("Which countries did they come from?", "They came from Norway.", "They came late."),
        ("In which years did it burn?", "It burned in 1894.", "It burned twice."),
        ("Why did it fall?", "It fell because of the wind.", "It fell at night."),
    ],
)
def test_names_places_dates_and_reasons_are_detected(question, answer, no_answer):
    assert (type_match(question, answer), type_match(question, no_answer)) == (1, 0)


def test_a_choice_between_two_is_not_a_yes_no_question():
    assert parse_question("Is the bridge green or grey?", WordStemmer()).expected is not AnswerType.VERDICT
    assert parse_question("Is the bridge green?", WordStemmer()).expected is AnswerType.VERDICT


def test_a_conditional_when_does_not_ask_for_a_date():
    assert (
        parse_question("When forces act on different objects, what law gives symmetry?", WordStemmer()).expected
        is not AnswerType.DATE
    )
    assert parse_question("When did the bridge open, and for whom?", WordStemmer()).expected is AnswerType.DATE
