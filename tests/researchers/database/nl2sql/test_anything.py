"""Whatever is asked: no error, few statements, and all of them such that an engine takes them."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from marchwarden.researchers.database.nl2sql import Questions
from tests.researchers.database.nl2sql.shop import COUNTRY, MUSIC, Asked

_SAID = """
    how many what which is are the of in by each per not no without more than less than at least between and or
    average number highest most largest longest top 5 2 2010 2010-01-08 before after since from to January ordered
    descending alphabetically where when starts with "L" distinct list return give me , ( ) . ? = > 3 4.5 million
    artist artists albums album title titles name tracks track genre unit price milliseconds withdrawn customers
    country city email invoices invoice total date AC/DC Brazil Rock Iron Maiden quantity id made people population
    state states border texas mississippi river rivers traverse capital area length austin biggest smallest first last
"""
_QUESTIONS = st.lists(st.sampled_from(_SAID.split()), min_size=1, max_size=8).map(" ".join)


@pytest.mark.parametrize("script", [MUSIC, COUNTRY], ids=["music", "country"])
def test_whatever_words_are_thrown_together_the_engine_takes_the_statements(script: str):
    asked = Asked(script)
    reader = Questions(asked.schema)

    @settings(max_examples=300, deadline=None)
    @given(_QUESTIONS)
    @example("average withdrawn least artist")
    def holds(question: str) -> None:
        found = reader.statements(question)
        assert len(found) <= 3
        assert all(0 < each.score <= 1 and each.reading for each in found)
        assert found == reader.statements(question)
        for each in found:
            asked.rows(f"EXPLAIN {each.sql}")

    holds()
    asked.close()


@pytest.mark.parametrize("script", [MUSIC, COUNTRY], ids=["music", "country"])
def test_an_engine_stricter_than_sqlite_takes_them_too(script: str):
    duckdb = pytest.importorskip("duckdb")
    asked, strict = Asked(script), duckdb.connect(":memory:")
    strict.execute(script)
    reader = Questions(asked.schema)

    @settings(max_examples=200, deadline=None)
    @given(_QUESTIONS)
    def holds(question: str) -> None:
        for each in reader.statements(question):
            strict.execute(f"EXPLAIN {each.sql}")

    holds()
    strict.close()
    asked.close()


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_no_text_is_an_error(text: str):
    asked = Asked(MUSIC)
    reader = Questions(asked.schema)
    for each in reader.statements(text):
        asked.rows(f"EXPLAIN {each.sql}")
    assert reader.unknown(text)
    asked.close()
