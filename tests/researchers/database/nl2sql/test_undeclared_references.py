"""Questions about a database that declares no references: joins are guessed from names and values."""

import pytest

from marchwarden.researchers.database.nl2sql import QuestionParser
from tests.researchers.database.nl2sql.sample_databases import SampleDatabase

COUNTRY_QUESTIONS = {
    "what is the population of texas": [(14229,)],
    "how many people live in austin": [(345,)],
    "what is the population of portland maine": [(61,)],
    "what is the capital of ohio": [("columbus",)],
    "what state has the capital austin": [("texas",)],
    "where is houston": [("texas",)],
    "how big is maine": [(33265,)],
    "how long is the red river": [(1638,)],
    "what rivers run through texas": [("red",)],
    "which states does the mississippi river run through": [("maine",), ("mississippi",), ("ohio",)],
    "through which states does the mississippi run": [("maine",), ("mississippi",), ("ohio",)],
    "what states border texas": [("mississippi",), ("ohio",), ("utah",)],
    "how many states border ohio": [(2,)],
    "which state borders the most states": [("texas",)],
    "what is the largest state bordering texas": [("utah",)],
    "what are the capitals of the states that border ohio": [("austin",), ("salt lake city",)],
    "what is the biggest city in texas": [("houston",)],
    "which state has the largest city": [("texas",)],
    "what is the smallest city in the largest state": [("austin",)],
    "which river runs through the most states": [("mississippi",)],
    "which state has more than 10000 people": [("ohio",), ("texas",)],
    "what is the total population of all states": [(30135,)],
}


@pytest.mark.parametrize(("question", "rows"), COUNTRY_QUESTIONS.items(), ids=list(COUNTRY_QUESTIONS))
def test_best_statement_returns_the_expected_rows(
    country: SampleDatabase, question: str, rows: list[tuple[object, ...]]
):
    best = QuestionParser(country.schema).translate(question)[0]
    assert sorted(country.rows(best.sql)) == sorted(rows)


def test_ambiguous_word_gives_several_statements(country: SampleDatabase):
    found = QuestionParser(country.schema).translate("what is the population of mississippi")
    assert len(found) > 1
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
