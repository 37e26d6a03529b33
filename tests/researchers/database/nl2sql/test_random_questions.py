"""Arbitrary questions: no errors, few statements, and every statement is valid for the engine."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from marchwarden.researchers.database.nl2sql import QuestionParser
from tests.researchers.database.nl2sql.sample_databases import COUNTRY, MUSIC, SampleDatabase

pytestmark = pytest.mark.slow

_VOCABULARY = """
    how many what which is are the of in by each per not no without more than less than at least between and or
    average number highest most largest longest top 5 2 2010 2010-01-08 before after since from to January ordered
    descending alphabetically where when starts with "L" distinct list return give me , ( ) . ? = > 3 4.5 million
    artist artists albums album title titles name tracks track genre unit price milliseconds withdrawn customers
    country city email invoices invoice total date AC/DC Brazil Rock Iron Maiden quantity id made people population
    state states border texas mississippi river rivers traverse capital area length austin biggest smallest first last
"""
_QUESTIONS = st.lists(st.sampled_from(_VOCABULARY.split()), min_size=1, max_size=8).map(" ".join)


@pytest.mark.parametrize("script", [MUSIC, COUNTRY], ids=["music", "country"])
def test_random_words_give_valid_sqlite_statements(script: str):
    database = SampleDatabase(script)
    parser = QuestionParser(database.schema)

    @settings(max_examples=300, deadline=None)
    @given(_QUESTIONS)
    @example("average withdrawn least artist")
    def holds(question: str) -> None:
        found = parser.translate(question)
        assert len(found) <= 3
        assert all(0 < each.score <= 1 and each.reading for each in found)
        assert found == parser.translate(question)
        for each in found:
            database.rows(f"EXPLAIN {each.sql}")

    holds()
    database.close()


@pytest.mark.parametrize("script", [MUSIC, COUNTRY], ids=["music", "country"])
def test_random_words_give_valid_duckdb_statements(script: str):
    duckdb = pytest.importorskip("duckdb")
    database, strict = SampleDatabase(script), duckdb.connect(":memory:")
    strict.execute(script)
    parser = QuestionParser(database.schema)

    @settings(max_examples=200, deadline=None)
    @given(_QUESTIONS)
    def holds(question: str) -> None:
        for each in parser.translate(question):
            strict.execute(f"EXPLAIN {each.sql}")

    holds()
    strict.close()
    database.close()


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_arbitrary_text_raises_no_error(text: str):
    database = SampleDatabase(MUSIC)
    parser = QuestionParser(database.schema)
    for each in parser.translate(text):
        database.rows(f"EXPLAIN {each.sql}")
    assert parser.explain_refusal(text)
    database.close()
