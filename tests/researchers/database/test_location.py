"""Parsing of database paths and URLs and of locators; passwords are never shown."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.errors import InvalidInput
from marchwarden.researchers.database.jobs import Engine, Target
from marchwarden.researchers.database.location import Database, DatabaseQuery
from tests.researchers.database.databases import make_duckdb_file

DATABASE = Database(Target(Engine.SQLITE, "/somewhere/shop.db"), "sqlite:///shop.db", "shop.db")


@pytest.mark.parametrize(
    ("url", "shown", "address", "password"),
    [
        (
            "postgresql://ann:p%40ss@db.example:5433/shop?sslmode=require&password=other",
            "postgresql://db.example:5433/shop",
            "postgresql://ann@db.example:5433/shop?sslmode=require",
            "p@ss",
        ),
        ("postgres://localhost/shop", "postgresql://localhost:5432/shop", "postgresql://me@localhost:5432/shop", "env"),
        (
            "postgresql+psycopg://ann@[::1]/shop?password=query",
            "postgresql://[::1]:5432/shop",
            "postgresql://ann@[::1]:5432/shop",
            "query",
        ),
        (
            "postgresql:///shop?host=/var/run/postgresql",
            "postgresql://localhost:5432/shop",
            "postgresql://me@localhost:5432/shop?host=%2Fvar%2Frun%2Fpostgresql",
            "env",
        ),
        (
            "mysql+pymysql://ann:secret@db:3306/shop?charset=utf8&ssl_key=private",
            "mysql+pymysql://db:3306/shop",
            "mysql+pymysql://ann@db:3306/shop?charset=utf8",
            "secret",
        ),
    ],
)
def test_url_is_shown_without_user_and_stored_without_password(url: str, shown: str, address: str, password: str):
    database = Database.at(url, {"PGPASSWORD": "env", "PGUSER": "me"})
    assert (database.shown, database.target.address, database.target.password) == (shown, address, password)
    assert database.name == "shop"
    assert password not in repr(database)
    assert password not in repr(database.target)


def test_file_is_shown_as_given_and_its_engine_is_detected(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(shop.parent)
    by_path, by_url = Database.at("shop.sqlite", {}), Database.at("sqlite:///shop.sqlite", {})
    assert by_path == by_url
    assert by_path.shown == "sqlite:///shop.sqlite"
    assert by_path.target == Target(Engine.SQLITE, str(shop.resolve()))
    assert Database.at(make_duckdb_file(tmp_path), {}).target.engine is Engine.DUCKDB
    assert Database.from_trace(by_path.target.address, by_path.shown, {}) == by_path


@pytest.mark.parametrize(
    ("given", "expected_text"),
    [
        ("nowhere.db", "no such database file"),
        ("sqlite:///nowhere.db", "no such database file"),
        (".", "no such database file"),
        ("", "no such database file"),
        ("text.db", "neither a SQLite nor a DuckDB"),
        ("duckdb:///shop.sqlite", "not a duckdb database"),
        ("postgresql://ann:secret@localhost", "no database name"),
        ("postgresql://ann:secret@localhost:port/shop", "malformed"),
        ("postgresql://ann:secret@[::1/shop", "malformed"),
        ("ftp://ann:secret@localhost/shop", "unknown database type ftp://"),
        ("sho\np.db", "printable"),
    ],
)
def test_invalid_database_is_rejected_in_one_line_without_its_password(
    given: str, expected_text: str, shop: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(shop.parent)
    Path("text.db").write_text("not a database")
    with pytest.raises(InvalidInput, match=expected_text) as caught:
        Database.at(given, {})
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(st.characters(codec="utf-8"), min_size=1), st.text(st.characters(codec="utf-8")))
def test_locator_round_trips_the_statement(sql: str, reading: str):
    locator = DATABASE.locator(DatabaseQuery(sql, reading))
    assert "#" not in locator
    back = DATABASE.parse_locator(f"{locator}#row=3")
    assert back is not None
    assert back.sql == sql


def test_locator_of_another_database_is_not_parsed():
    assert DATABASE.parse_locator("sqlite:///other.db?query=SELECT%201") is None
    assert DATABASE.parse_locator("sqlite:///shop.db") is None
    assert DATABASE.parse_locator("https://example.org/?query=SELECT%201") is None
