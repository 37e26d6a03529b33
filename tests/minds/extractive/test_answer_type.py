"""Whether a sentence holds the kind of thing that is asked for."""

import pytest

from marchwarden.minds.extractive.answer_type import NOT_ASKED, OF_SOMETHING_ELSE, fit
from marchwarden.minds.extractive.question import Expected, understood
from marchwarden.text.words import WordStemmer


def fits(question: str, sentence: str) -> float:
    return fit(understood(question, WordStemmer()), sentence)


@pytest.mark.parametrize(
    ("question", "answer", "beside_it"),
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
def test_a_number_counts_wholly_when_it_is_given_in_what_is_asked(question, answer, beside_it):
    assert fits(question, answer) == 1
    assert fits(question, beside_it) == OF_SOMETHING_ELSE


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
def test_who_asks_how_it_is_done_wants_to_be_told_what_to_do(sentence):
    assert fits("How do I cross the river?", sentence) == 1
    assert fits("How do I cross the river?", "Many people cross the river.") == 0
    assert fits("How did they cross the river?", sentence) == NOT_ASKED


def test_where_nothing_tells_what_is_counted_any_number_will_do():
    assert fits("How many of the?", "There were 12.") == 1


def test_a_sentence_without_a_new_number_answers_no_question_for_one():
    assert fits("How many of the 12 arches fell?", "Of the 12 arches many fell.") == 0


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
def test_a_definition_is_known_by_its_form(question, sentence):
    assert fits(question, sentence) == 1


def test_a_sentence_about_the_thing_defines_it_less():
    assert fits("What is hepcidin?", "Increased hepcidin concentrations are a sign of infection.") == 0.5
    assert fits("What is hepcidin?", "Iron was low.") < 0.5


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
def test_names_places_dates_and_reasons_are_there_or_not(question, answer, no_answer):
    assert (fits(question, answer), fits(question, no_answer)) == (1, 0)


def test_a_choice_between_two_asks_for_no_verdict():
    assert understood("Is the bridge green or grey?", WordStemmer()).expected is not Expected.VERDICT
    assert understood("Is the bridge green?", WordStemmer()).expected is Expected.VERDICT


def test_a_when_that_only_sets_the_scene_asks_for_no_date():
    assert (
        understood("When forces act on different objects, what law gives symmetry?", WordStemmer()).expected
        is not Expected.DATE
    )
    assert understood("When did the bridge open, and for whom?", WordStemmer()).expected is Expected.DATE
