"""Questions that the schema cannot answer are refused, and unknown words are named."""

import pytest

from marchwarden.researchers.database.models import Schema, Table
from marchwarden.researchers.database.nl2sql import QuestionParser, explain_refusal, translate
from tests.researchers.database.nl2sql.sample_databases import SampleDatabase

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
def test_unknown_word_refuses_the_question_and_is_named(music: SampleDatabase, question: str, words: list[str]):
    parser = QuestionParser(music.schema)
    assert parser.translate(question) == ()
    assert all(f'"{word}"' in parser.explain_refusal(question) for word in words)


@pytest.mark.parametrize(
    "question", ["", "?", "How many?", "the of and", "what states border states that border texas"]
)
def test_question_without_content_is_refused(country: SampleDatabase, question: str):
    assert translate(question, country.schema) == ()
    assert explain_refusal(question, country.schema)


def test_empty_schema_gives_no_statement():
    assert translate("How many customers are there?", Schema("sqlite", (Table("customer", ()),))) == ()


def test_named_but_unused_column_refuses_the_question(country: SampleDatabase):
    assert translate("how many people live in the capital of ohio", country.schema) == ()
