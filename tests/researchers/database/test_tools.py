"""DatabaseSource: searching, fetching locators, and errors."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from marchwarden.contract import GapCategory
from marchwarden.core.notebook import Hit, Query
from marchwarden.errors import SourceError
from marchwarden.researchers.database.location import Database, DatabaseQuery
from marchwarden.researchers.database.tools import DatabaseSource

pytestmark = pytest.mark.slow

COUNT = "SELECT COUNT(*) FROM customer WHERE country = 'Brazil'"


async def ignore_progress(_message: str) -> None:
    """Discard status messages."""


def make_source(shop: Path) -> DatabaseSource:
    return DatabaseSource(Database.at(shop, {}))


async def test_sql_query_is_used_as_is_and_its_locator_runs_it_again(shop: Path):
    source = make_source(shop)
    (hit,) = await source.search(Query(f"{COUNT}; -- how many"))
    assert hit.locator == Database.at(shop, {}).locator(DatabaseQuery(COUNT))
    one, other = await source.fetch(hit), await source.fetch(Hit(f"{hit.locator}#row=1"))
    assert one.text.startswith(f"The result of {COUNT} is 2.")
    assert one.text_hash == other.text_hash
    assert one.source == source.name == "database"


async def test_question_is_translated_to_its_most_likely_statement(shop: Path):
    (hit,) = await make_source(shop).search(Query("customers brazil", question="How many customers are in Brazil?"))
    assert "COUNT" in hit.locator
    document = await make_source(shop).fetch(hit)
    assert document.text.startswith("The number of customers whose country is Brazil is 2.")
    assert "How many customers are in Brazil?" in document.title


async def test_fetching_a_locator_again_shows_changed_data(shop: Path):
    source = make_source(shop)
    (hit,) = await source.search(Query(COUNT))
    before = await source.fetch(hit)
    with closing(sqlite3.connect(shop)) as connection, connection:
        connection.execute("DELETE FROM customer WHERE id = 1")
    after = await source.fetch(Hit(hit.locator))
    assert json.loads(before.content)["row_hash"] != json.loads(after.content)["row_hash"]
    assert before.text_hash != after.text_hash


async def test_question_outside_the_schema_exceeds_the_scope(shop: Path):
    source = make_source(shop)
    with pytest.raises(SourceError, match="penicillin") as caught:
        await source.search(Query("discovered penicillin", question="Who discovered penicillin?"))
    assert caught.value.category is GapCategory.SCOPE_EXCEEDED
    assert await source.search(Query("Alexander Fleming", question="Who discovered penicillin?")) == ()


@pytest.mark.parametrize(
    ("sql", "category"),
    [
        ("SELECT load_extension('x')", GapCategory.ACCESS_DENIED),
        ("WITH gone AS (DELETE FROM customer RETURNING *) SELECT * FROM gone", GapCategory.ACCESS_DENIED),
        ("SELECT name FROM nothing_of_the_kind", GapCategory.SOURCE_NOT_FOUND),
        ("SELECT FROM WHERE", GapCategory.SOURCE_NOT_FOUND),
    ],
)
async def test_refused_statement_is_reported_with_its_reason(sql: str, category: GapCategory, shop: Path):
    source = make_source(shop)
    with pytest.raises(SourceError, match=r"^shop\.sqlite: ") as caught:
        await source.search(Query(sql, question="How many customers are there?"))
    assert caught.value.category is category
    with pytest.raises(SourceError, match=r"^shop\.sqlite: "):
        await source.fetch(Hit(Database.at(shop, {}).locator(DatabaseQuery(sql))))


async def test_invalid_column_is_reported_when_the_statement_runs(shop: Path):
    source = make_source(shop)
    (hit,) = await source.search(Query("SELECT nme FROM customer"))
    with pytest.raises(SourceError, match="no such column: nme") as caught:
        await source.fetch(hit)
    assert caught.value.category is GapCategory.SOURCE_NOT_FOUND


async def test_locator_of_another_database_is_not_fetched(shop: Path):
    with pytest.raises(SourceError, match="not a locator of this database"):
        await make_source(shop).fetch(Hit("sqlite:///other.db?query=SELECT%201"))


async def test_guide_describes_the_schema_once_ready(shop: Path):
    source = make_source(shop)
    assert source.guide() == ""
    await source.ready(ignore_progress)
    assert "table customer (4 rows): id number key, name text" in source.guide()
    assert source.notices() == ()


async def test_deleted_database_raises_source_error(shop: Path):
    source = make_source(shop)
    await anyio.Path(shop).unlink()
    with pytest.raises(SourceError, match="cannot be opened"):
        await source.ready(ignore_progress)
