"""What a schema cannot answer is refused, and the words it does not know are named."""

import pytest

from marchwarden.researchers.database.models import Schema, Table
from marchwarden.researchers.database.nl2sql import QuestionParser, explain_refusal, translate
from tests.researchers.database.nl2sql.shop import SampleDatabase

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
def test_a_word_the_schema_has_nothing_for_refuses_the_question(music: SampleDatabase, question: str, words: list[str]):
    parser = QuestionParser(music.schema)
    assert parser.translate(question) == ()
    assert all(f'"{word}"' in parser.explain_refusal(question) for word in words)


@pytest.mark.parametrize(
    "question", ["", "?", "How many?", "the of and", "what states border states that border texas"]
)
def test_what_asks_for_nothing_tellable_is_refused(country: SampleDatabase, question: str):
    assert translate(question, country.schema) == ()
    assert explain_refusal(question, country.schema)


def test_an_empty_database_answers_nothing():
    assert translate("How many customers are there?", Schema("sqlite", (Table("customer", ()),))) == ()


def test_a_column_that_is_named_and_not_used_means_the_question_was_not_understood(country: SampleDatabase):
    assert translate("how many people live in the capital of ohio", country.schema) == ()
