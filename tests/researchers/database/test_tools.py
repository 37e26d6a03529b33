"""DatabaseSource: what a query comes to, what a locator brings back, and what is honestly not there."""

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

COUNT = "SELECT COUNT(*) FROM customer WHERE country = 'Brazil'"


async def heard(_line: str) -> None:
    """Nobody watches."""


def a_source(shop: Path) -> DatabaseSource:
    return DatabaseSource(Database.at(shop, {}))


async def test_a_statement_comes_to_itself_and_its_locator_runs_it_again(shop: Path):
    source = a_source(shop)
    (hit,) = await source.search(Query(f"{COUNT}; -- how many"))
    assert hit.locator == Database.at(shop, {}).locator(DatabaseQuery(COUNT))
    one, other = await source.fetch(hit), await source.fetch(Hit(f"{hit.locator}#row=1"))
    assert one.text.startswith(f"The result of {COUNT} is 2.")
    assert one.text_hash == other.text_hash
    assert one.source == source.name == "database"


async def test_a_question_comes_to_its_likeliest_meaning(shop: Path):
    (hit,) = await a_source(shop).search(Query("customers brazil", question="How many customers are in Brazil?"))
    assert "COUNT" in hit.locator
    document = await a_source(shop).fetch(hit)
    assert document.text.startswith("The number of customers whose country is Brazil is 2.")
    assert "How many customers are in Brazil?" in document.title


async def test_changed_data_is_seen_by_running_the_locator_again(shop: Path):
    source = a_source(shop)
    (hit,) = await source.search(Query(COUNT))
    before = await source.fetch(hit)
    with closing(sqlite3.connect(shop)) as connection, connection:
        connection.execute("DELETE FROM customer WHERE id = 1")
    after = await source.fetch(Hit(hit.locator))
    assert json.loads(before.content)["row_hash"] != json.loads(after.content)["row_hash"]
    assert before.text_hash != after.text_hash


async def test_what_the_schema_knows_nothing_of_is_beyond_its_scope(shop: Path):
    source = a_source(shop)
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
async def test_a_statement_that_is_not_let_through_is_told_with_its_reason(sql: str, category: GapCategory, shop: Path):
    source = a_source(shop)
    with pytest.raises(SourceError, match=r"^shop\.sqlite: ") as caught:
        await source.search(Query(sql, question="How many customers are there?"))
    assert caught.value.category is category
    with pytest.raises(SourceError, match=r"^shop\.sqlite: "):
        await source.fetch(Hit(Database.at(shop, {}).locator(DatabaseQuery(sql))))


async def test_a_statement_with_a_mistake_is_told_when_it_is_run(shop: Path):
    source = a_source(shop)
    (hit,) = await source.search(Query("SELECT nme FROM customer"))
    with pytest.raises(SourceError, match="no such column: nme") as caught:
        await source.fetch(hit)
    assert caught.value.category is GapCategory.SOURCE_NOT_FOUND


async def test_a_locator_of_another_place_is_not_followed(shop: Path):
    with pytest.raises(SourceError, match="not of this database"):
        await a_source(shop).fetch(Hit("sqlite:///other.db?query=SELECT%201"))


async def test_the_guide_tells_the_schema_once_ready(shop: Path):
    source = a_source(shop)
    assert source.guide() == ""
    await source.ready(heard)
    assert "table customer (4 rows): id number key, name text" in source.guide()
    assert source.notices() == ()


async def test_a_database_that_went_away_is_a_gap(shop: Path):
    source = a_source(shop)
    await anyio.Path(shop).unlink()
    with pytest.raises(SourceError, match="cannot be opened"):
        await source.ready(heard)
