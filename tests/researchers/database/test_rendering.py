"""Rows as a document: an answer sentence, a line per row, the same text for the same data."""

import json
from datetime import UTC, datetime

import pytest

from marchwarden.contract import Authority
from marchwarden.researchers.database.jobs import CellValue, Engine, ResultRows, Target
from marchwarden.researchers.database.location import Database, DatabaseQuery
from marchwarden.researchers.database.rendering import answer_sentence, render_document, row_hash

SHOP = Database(Target(Engine.SQLITE, "/home/shop.db"), "sqlite:///shop.db", "shop.db")
QUERY = DatabaseQuery("SELECT name, spent FROM customer", "the customers and what they spent")
ROWS = ResultRows(("name", "spent"), (("Ana", 120.5), ("Bruno", None), ("Eve\x1b[2J\u202e", True)))
TAKEN_AT = datetime(2026, 1, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("reading", "columns", "rows", "expected_text"),
    [
        ("the number of customers", ("n",), ((5,),), "The number of customers is 5."),
        ("the number of customers", ("n",), ((None,),), "The number of customers is not given."),
        ("the customers in Brazil", ("name",), (("Ana",), ("Bo",)), "The customers in Brazil are Ana and Bo."),
        ("the customers in Peru", ("name",), (), "The customers in Peru: there is no such row."),
        ("Ana's row", ("name", "spent"), (("Ana", 1),), "Ana's row: name: Ana; spent: 1."),
        ("the customers", ("a", "b"), ((1, 2), (3, 4)), "The customers: 2 rows."),
        ("the numbers", ("x",), tuple((each,) for each in range(40)), "The numbers: 40 rows."),
        ("", ("n",), ((0.1 + 0.2,),), "The result of SELECT 1 is 0.3."),
        ("", ("n",), ((1,), (2,)), "The result of SELECT 1: 1 and 2."),
    ],
)
def test_first_line_states_the_answer(
    reading: str, columns: tuple[str, ...], rows: tuple[tuple[CellValue, ...], ...], expected_text: str
):
    assert answer_sentence(DatabaseQuery("SELECT 1", reading), ResultRows(columns, rows)) == expected_text


def test_document_has_a_line_and_a_locator_for_each_row():
    document = render_document(SHOP, QUERY, ROWS, TAKEN_AT)
    assert document.text.split("\n") == [
        "The customers and what they spent: 3 rows.",
        "name: Ana; spent: 120.5",
        "name: Bruno; spent: not given",
        "name: Eve[2J; spent: yes",
        f"Row hash of 3 rows: {row_hash(ROWS)}",
    ]
    start = document.text.index("name: Bruno")
    assert document.locate(start, start + 5) == f"{document.locator}#row=2"
    assert document.locate(0, 5) == document.locator
    assert document.title == "shop.db: the customers and what they spent"
    assert document.authority is Authority.HIGH


def test_invisible_characters_of_a_cell_can_be_quoted():
    rows = ResultRows(("na\u200bme",), (("Zwi\u00adcky\ufe0f",),))
    assert answer_sentence(DatabaseQuery("SELECT 1", "the na\u200bme"), rows) == "The na\u200bme is Zwi\u00adcky\ufe0f."


def test_content_holds_query_rows_and_time():
    content = json.loads(render_document(SHOP, QUERY, ROWS, TAKEN_AT).content)
    assert content["query"] == QUERY.sql
    assert content["rows"][0] == ["Ana", 120.5]
    assert content["row_hash"] == row_hash(ROWS)
    assert content["taken_at"] == "2026-01-02T12:00:00+00:00"


def test_text_depends_only_on_the_data():
    one, other = (
        render_document(SHOP, QUERY, ROWS, TAKEN_AT),
        render_document(SHOP, QUERY, ROWS, TAKEN_AT.replace(year=2030)),
    )
    assert one.text_hash == other.text_hash
    assert one.content_hash != other.content_hash
    changed = render_document(SHOP, QUERY, ResultRows(ROWS.columns, ROWS.rows[:2]), TAKEN_AT)
    assert changed.text_hash != one.text_hash


def test_omitted_rows_are_mentioned():
    text = render_document(SHOP, QUERY, ResultRows(("a", "b"), ((1, 2), (3, 4)), cut=True), TAKEN_AT).text
    assert "more than 2 rows" in text
    assert "more were left out" in text
