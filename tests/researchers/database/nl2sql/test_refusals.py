"""What a schema cannot answer is refused, and the words it does not know are named."""

import pytest

from marchwarden.researchers.database.models import Schema, Table
from marchwarden.researchers.database.nl2sql import Questions, statements, unknown
from tests.researchers.database.nl2sql.shop import Asked

UNKNOWN = {
    "Who is the president of France?": ["president", "france"],
    "What is the population of Brazil?": ["population"],
    "How many customers are in Norway?": ["norway"],
    "How many tracks have lyrics?": ["lyrics"],
    "What is the ratio of albums to artists?": ["ratio"],
    "How many invoices were made in the last 7 days?": ["last", "days"],
    "Which albums are longer than Powerslave?": ["longer than"],
    "How does one find true happiness?": ["true", "happiness"],
}


@pytest.mark.parametrize(("question", "words"), UNKNOWN.items(), ids=list(UNKNOWN))
def test_a_word_the_schema_has_nothing_for_refuses_the_question(music: Asked, question: str, words: list[str]):
    reader = Questions(music.schema)
    assert reader.statements(question) == ()
    assert all(f'"{word}"' in reader.unknown(question) for word in words)


@pytest.mark.parametrize(
    "question", ["", "?", "How many?", "the of and", "what states border states that border texas"]
)
def test_what_asks_for_nothing_tellable_is_refused(country: Asked, question: str):
    assert statements(question, country.schema) == ()
    assert unknown(question, country.schema)


def test_an_empty_database_answers_nothing():
    assert statements("How many customers are there?", Schema("sqlite", (Table("customer", ()),))) == ()


def test_a_column_that_is_named_and_not_used_means_the_question_was_not_understood(country: Asked):
    assert statements("how many people live in the capital of ohio", country.schema) == ()
