"""Each engine alone: the schema it reads, and that harmless statements run."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from marchwarden.researchers.database.engines import OpenDatabase, open_database
from marchwarden.researchers.database.jobs import (
    DatabaseJob,
    Engine,
    JobKind,
    QueryLimits,
    QueryRefused,
    Reason,
    Target,
)
from marchwarden.researchers.database.models import ColumnKind, Schema
from marchwarden.researchers.database.sql_guard import check_sql
from marchwarden.researchers.database.worker import execute_job
from tests.researchers.database.databases import PostgresInstance, make_duckdb_file, make_sqlite_file
from tests.researchers.database.harmless import DUCKDB, POSTGRES, SQLITE

pytestmark = pytest.mark.slow

SECONDS = 10.0
MEMORY = 2 << 30


def find_refused(engine: OpenDatabase, statements: tuple[str, ...]) -> list[tuple[str, str]]:
    found = []
    for sql in statements:
        try:
            engine.rows(check_sql(sql, engine.dialect, engine.relations()), 20, SECONDS)
        except QueryRefused as refused:
            found.append((sql, refused.detail))
    return found


def read_schema(target: Target) -> Schema:
    outcome = execute_job(DatabaseJob(JobKind.SCHEMA, target, QueryLimits()))
    assert outcome.refusal is None
    assert outcome.schema is not None
    return outcome.schema


def check_shop(schema: Schema) -> None:
    customer = schema.table("customer")
    invoice = schema.table("invoice")
    assert customer and invoice and schema.table("rich")
    assert customer.rows == 4
    kinds = {column.name: column.kind for column in (*customer.columns, *invoice.columns)}
    assert kinds["name"] is ColumnKind.TEXT and kinds["spent"] is ColumnKind.NUMBER
    assert kinds["dated"] is ColumnKind.DATETIME and kinds["paid"] is ColumnKind.BOOLEAN
    country = customer.column("country")
    assert country and country.values == ("Brazil", "Canada", "Germany") and country.complete
    assert [column.name for column in customer.columns if column.is_key] == ["id"]
    (reference,) = invoice.references
    assert (reference.column, reference.table, reference.target) == ("customer_id", "customer", "id")


@pytest.mark.parametrize(
    ("make", "engine", "harmless"),
    [(make_sqlite_file, Engine.SQLITE, SQLITE), (make_duckdb_file, Engine.DUCKDB, DUCKDB)],
)
def test_file_engine_reads_schema_and_runs_harmless_sql(
    make: Callable[[Path], Path], engine: Engine, harmless: tuple[str, ...], tmp_path: Path
):
    target = Target(engine, str(make(tmp_path)))
    check_shop(read_schema(target))
    engine_alone = open_database(target, SECONDS, MEMORY)
    assert find_refused(engine_alone, harmless) == []
    engine_alone.close()


def test_duckdb_reads_comments_and_tables_of_other_schemas(tmp_path: Path):
    schema = read_schema(Target(Engine.DUCKDB, str(make_duckdb_file(tmp_path))))
    customer = schema.table("customer")
    assert customer and [column.comment for column in customer.columns if column.comment] == ["in dollars"]
    assert schema.table("shelf")


@pytest.mark.parametrize("user", ["reader", "postgres"])
def test_postgres_reads_schema_and_runs_harmless_sql(user: str, postgres: PostgresInstance):
    schema = read_schema(postgres.target(user))
    check_shop(schema)
    customer, visit = schema.table("customer"), schema.table("visit")
    assert customer and customer.comment == "who buys"
    assert visit and [column.kind for column in visit.columns] == [
        ColumnKind.DATETIME,
        ColumnKind.TEXT,
        ColumnKind.OTHER,
        ColumnKind.OTHER,
    ]
    engine_alone = open_database(postgres.target(user), SECONDS, MEMORY)
    assert find_refused(engine_alone, POSTGRES) == []
    assert engine_alone.notices == ()
    engine_alone.close()


def test_superuser_switches_to_a_read_only_role(postgres: PostgresInstance):
    engine_alone = open_database(postgres.target("postgres"), SECONDS, MEMORY)
    assert engine_alone.rows("SELECT current_user", 1, SECONDS)[1] == [["pg_read_all_data"]]
    engine_alone.close()


def test_wrong_password_is_reported_without_the_password(postgres: PostgresInstance):
    outcome = execute_job(DatabaseJob(JobKind.SCHEMA, postgres.target("reader", "not-this-one"), QueryLimits()))
    assert outcome.refusal
    assert outcome.refusal.reason is Reason.UNREACHABLE
    assert "not-this-one" not in outcome.refusal.detail


def test_other_dialects_are_read_through_sqlalchemy(tmp_path: Path):
    path = make_sqlite_file(tmp_path)
    target = Target(Engine.OTHER, f"sqlite+pysqlite:///{path}")
    check_shop(read_schema(target))
    engine_alone = open_database(target, SECONDS, MEMORY)
    assert find_refused(engine_alone, SQLITE[:10]) == []
    with pytest.raises(QueryRefused):
        engine_alone.rows("DELETE FROM customer", 1, SECONDS)
    engine_alone.close()


@pytest.mark.parametrize(
    ("engine", "start"), [(Engine.SQLITE, b"SQLite format 3\x00"), (Engine.DUCKDB, b"\x00" * 8 + b"DUCK")]
)
def test_damaged_file_is_reported_as_unreachable(engine: Engine, start: bytes, tmp_path: Path):
    path = tmp_path / "broken"
    path.write_bytes(start + b"\xff" * 16_000)
    outcome = execute_job(DatabaseJob(JobKind.SCHEMA, Target(engine, str(path)), QueryLimits()))
    assert outcome.refusal
    assert outcome.refusal.reason is Reason.UNREACHABLE


def test_reading_a_database_with_a_write_ahead_log_creates_no_files(tmp_path: Path):
    path = make_sqlite_file(tmp_path)
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.close()
    count = "SELECT COUNT(*) FROM customer"
    quiet = execute_job(DatabaseJob(JobKind.RUN, Target(Engine.SQLITE, str(path)), QueryLimits(), count))
    assert quiet.rows and quiet.rows.rows == ((4,),)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]

    writer = sqlite3.connect(path)
    writer.execute("INSERT INTO customer VALUES (5, 'Eli', 'Chile', 1)")
    writer.commit()
    busy = execute_job(DatabaseJob(JobKind.RUN, Target(Engine.SQLITE, str(path)), QueryLimits(), count))
    writer.close()
    assert busy.rows and busy.rows.rows == ((5,),)
