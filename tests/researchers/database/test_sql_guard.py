"""Hostile statements against all layers of protection together, and against the engine alone without the parser."""

import time
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
from marchwarden.researchers.database.sql_guard import check_sql
from marchwarden.researchers.database.worker import execute_job
from tests.researchers.database.databases import PostgresInstance, fingerprint, make_duckdb_file, make_sqlite_file
from tests.researchers.database.hostile import (
    DUCKDB_FORBIDDEN,
    DUCKDB_HEAVY,
    MEMORY_HUNGRY,
    POSTGRES_FORBIDDEN,
    POSTGRES_HEAVY,
    SQLITE_FORBIDDEN,
    SQLITE_HEAVY,
)

pytestmark = pytest.mark.slow

SECONDS = 0.1
EVERY_NTH = 8
MARGIN = 3.0
TIGHT_LIMITS = QueryLimits(seconds=SECONDS, rows=20, memory=2 << 30)
RELATIONS = frozenset({"customer", "invoice", "number", "rich", "public.customer", "main.customer"})


def test_there_are_enough_hostile_statements():
    assert len(set(SQLITE_FORBIDDEN + SQLITE_HEAVY)) >= 60
    assert len(set(POSTGRES_FORBIDDEN + POSTGRES_HEAVY)) >= 40


@pytest.mark.parametrize(
    ("dialect", "hostile"),
    [("sqlite", SQLITE_FORBIDDEN), ("postgres", POSTGRES_FORBIDDEN), ("duckdb", DUCKDB_FORBIDDEN)],
)
def test_parser_refuses_every_hostile_statement(dialect: str, hostile: tuple[str, ...]):
    assert [sql for sql in hostile if is_allowed(sql, dialect)] == []


def is_allowed(sql: str, dialect: str) -> bool:
    try:
        check_sql(sql, dialect, RELATIONS)
    except QueryRefused:
        return False
    return True


def refusal_reason(sql: str, target: Target) -> Reason | None:
    """Return why all layers together refused a statement, within the time limit."""
    started = time.monotonic()
    outcome = execute_job(DatabaseJob(JobKind.RUN, target, TIGHT_LIMITS, sql))
    assert time.monotonic() - started < SECONDS + MARGIN
    return outcome.refusal.reason if outcome.refusal else None


def run_unguarded(engine: OpenDatabase, sql: str) -> str:
    """Return what the engine alone outputs for a statement, within the time limit."""
    started = time.monotonic()
    try:
        expected_text = str(engine.rows(sql, 20, SECONDS))
    except QueryRefused as refused:
        expected_text = refused.detail
    assert time.monotonic() - started < SECONDS + MARGIN
    return expected_text


@pytest.mark.parametrize(
    ("make", "engine", "forbidden", "heavy"),
    [
        (make_sqlite_file, Engine.SQLITE, SQLITE_FORBIDDEN, SQLITE_HEAVY),
        (make_duckdb_file, Engine.DUCKDB, DUCKDB_FORBIDDEN, DUCKDB_HEAVY),
    ],
)
def test_hostile_statements_write_no_file_and_end_in_time(
    make: Callable[[Path], Path],
    engine: Engine,
    forbidden: tuple[str, ...],
    heavy: tuple[str, ...],
    tmp_path: Path,
):
    (tmp_path / "home").mkdir()
    (tmp_path / "secret.csv").write_text("the,secret\n")
    path = make(tmp_path / "home")
    target = Target(engine, str(path))
    names = {"outside": str(tmp_path / "home" / "loot"), "secret": str(tmp_path / "secret.csv")}
    before = fingerprint(tmp_path)
    for sql in forbidden[::EVERY_NTH]:
        assert refusal_reason(_named(sql, names), target) in {Reason.FORBIDDEN, Reason.MALFORMED}, sql
    for sql in heavy:
        assert refusal_reason(sql, target) is Reason.TOO_MUCH, sql
    engine_alone = open_database(target, SECONDS, TIGHT_LIMITS.memory)
    for sql in {*forbidden, *heavy}.difference(MEMORY_HUNGRY):
        assert "the,secret" not in run_unguarded(engine_alone, _named(sql, names)), sql
    engine_alone.close()
    assert fingerprint(tmp_path) == before


@pytest.mark.parametrize("user", ["reader", "postgres"])
def test_hostile_statements_change_no_server_and_end_in_time(user: str, postgres: PostgresInstance):
    secret = postgres.folder / "secret"
    secret.write_text("the,secret")
    secret.chmod(0o644)
    names = {"outside": str(postgres.folder / "data" / "loot"), "secret": str(secret)}
    before = postgres.state()
    engine_alone = open_database(postgres.target(user), SECONDS + MARGIN, TIGHT_LIMITS.memory)
    for sql in {*POSTGRES_FORBIDDEN, *POSTGRES_HEAVY}.difference(MEMORY_HUNGRY):
        assert "the,secret" not in run_unguarded(engine_alone, _named(sql, names)), sql
    engine_alone.close()
    assert postgres.state() == before
    assert postgres.busy() == 0
    assert not (postgres.folder / "data" / "loot").exists()


def test_all_layers_together_protect_a_server(postgres: PostgresInstance):
    names = {"outside": "/loot", "secret": "/etc/passwd"}
    for sql in POSTGRES_FORBIDDEN[::EVERY_NTH]:
        assert refusal_reason(_named(sql, names), postgres.target("postgres")) in {
            Reason.FORBIDDEN,
            Reason.MALFORMED,
        }, sql
    for sql in POSTGRES_HEAVY[::2]:
        assert refusal_reason(sql, postgres.target("postgres")) is Reason.TOO_MUCH, sql
    assert postgres.busy() == 0


def _named(sql: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        sql = sql.replace("{" + name + "}", value)
    return sql
