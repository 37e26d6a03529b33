"""Which database is meant, what of it is shown, and that no password ever is."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.errors import InvalidInput
from marchwarden.researchers.database.jobs import Engine, Target
from marchwarden.researchers.database.location import Database, DatabaseQuery
from tests.researchers.database.houses import a_duckdb_file

HERE = Database(Target(Engine.SQLITE, "/somewhere/shop.db"), "sqlite:///shop.db", "shop.db")


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
def test_a_url_is_shown_without_user_and_kept_without_password(url: str, shown: str, address: str, password: str):
    database = Database.at(url, {"PGPASSWORD": "env", "PGUSER": "me"})
    assert (database.shown, database.target.address, database.target.password) == (shown, address, password)
    assert database.name == "shop"
    assert password not in repr(database)
    assert password not in repr(database.target)


def test_a_file_is_shown_as_it_was_given_and_known_by_what_is_in_it(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(shop.parent)
    by_path, by_url = Database.at("shop.sqlite", {}), Database.at("sqlite:///shop.sqlite", {})
    assert by_path == by_url
    assert by_path.shown == "sqlite:///shop.sqlite"
    assert by_path.target == Target(Engine.SQLITE, str(shop.resolve()))
    assert Database.at(a_duckdb_file(tmp_path), {}).target.engine is Engine.DUCKDB
    assert Database.from_trace(by_path.target.address, by_path.shown, {}) == by_path


@pytest.mark.parametrize(
    ("given", "said"),
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
def test_what_can_be_no_database_is_refused_in_one_line_without_its_password(
    given: str, said: str, shop: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(shop.parent)
    Path("text.db").write_text("not a database")
    with pytest.raises(InvalidInput, match=said) as caught:
        Database.at(given, {})
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(st.characters(codec="utf-8"), min_size=1), st.text(st.characters(codec="utf-8")))
def test_a_locator_brings_back_what_was_asked(sql: str, reading: str):
    locator = HERE.locator(DatabaseQuery(sql, reading))
    assert "#" not in locator
    back = HERE.parse_locator(f"{locator}#row=3")
    assert back is not None
    assert back.sql == sql


def test_a_locator_of_another_database_is_not_answered():
    assert HERE.parse_locator("sqlite:///other.db?query=SELECT%201") is None
    assert HERE.parse_locator("sqlite:///shop.db") is None
    assert HERE.parse_locator("https://example.org/?query=SELECT%201") is None
