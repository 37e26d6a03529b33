"""Hostile statements against the walls: all together, and the engine's own wall without the parser before it."""

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
from tests.researchers.database.hostile import (
    DUCKDB_FORBIDDEN,
    DUCKDB_HEAVY,
    GREEDY,
    POSTGRES_FORBIDDEN,
    POSTGRES_HEAVY,
    SQLITE_FORBIDDEN,
    SQLITE_HEAVY,
)
from tests.researchers.database.houses import PostgresHouse, a_duckdb_file, a_sqlite_file, fingerprint

SECONDS = 0.1
SOME = 8
MARGIN = 3.0
TIGHT = QueryLimits(seconds=SECONDS, rows=20, memory=2 << 30)
RELATIONS = frozenset({"customer", "invoice", "number", "rich", "public.customer", "main.customer"})


def test_there_are_enough_of_them():
    assert len(set(SQLITE_FORBIDDEN + SQLITE_HEAVY)) >= 60
    assert len(set(POSTGRES_FORBIDDEN + POSTGRES_HEAVY)) >= 40


@pytest.mark.parametrize(
    ("dialect", "hostile"),
    [("sqlite", SQLITE_FORBIDDEN), ("postgres", POSTGRES_FORBIDDEN), ("duckdb", DUCKDB_FORBIDDEN)],
)
def test_the_parser_lets_no_hostile_statement_through(dialect: str, hostile: tuple[str, ...]):
    assert [sql for sql in hostile if is_let_through(sql, dialect)] == []


def is_let_through(sql: str, dialect: str) -> bool:
    try:
        check_sql(sql, dialect, RELATIONS)
    except QueryRefused:
        return False
    return True


def outcome_of(sql: str, target: Target) -> Reason | None:
    """Why it was refused by all walls, which took no longer than they should."""
    began = time.monotonic()
    outcome = execute_job(DatabaseJob(JobKind.RUN, target, TIGHT, sql))
    assert time.monotonic() - began < SECONDS + MARGIN
    return outcome.refusal.reason if outcome.refusal else None


def provoke(engine: OpenDatabase, sql: str) -> str:
    """What the engine alone gives out for a statement, in time."""
    began = time.monotonic()
    try:
        said = str(engine.rows(sql, 20, SECONDS))
    except QueryRefused as refused:
        said = refused.detail
    assert time.monotonic() - began < SECONDS + MARGIN
    return said


@pytest.mark.parametrize(
    ("make", "engine", "forbidden", "heavy"),
    [
        (a_sqlite_file, Engine.SQLITE, SQLITE_FORBIDDEN, SQLITE_HEAVY),
        (a_duckdb_file, Engine.DUCKDB, DUCKDB_FORBIDDEN, DUCKDB_HEAVY),
    ],
)
def test_no_hostile_statement_writes_a_file_or_outlives_its_limit(
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
    for sql in forbidden[::SOME]:
        assert outcome_of(_named(sql, names), target) in {Reason.FORBIDDEN, Reason.MALFORMED}, sql
    for sql in heavy:
        assert outcome_of(sql, target) is Reason.TOO_MUCH, sql
    alone = open_database(target, SECONDS, TIGHT.memory)
    for sql in {*forbidden, *heavy}.difference(GREEDY):
        assert "the,secret" not in provoke(alone, _named(sql, names)), sql
    alone.close()
    assert fingerprint(tmp_path) == before


@pytest.mark.parametrize("user", ["reader", "postgres"])
def test_no_hostile_statement_changes_a_server_or_outlives_its_limit(user: str, postgres: PostgresHouse):
    secret = postgres.folder / "secret"
    secret.write_text("the,secret")
    secret.chmod(0o644)
    names = {"outside": str(postgres.folder / "data" / "loot"), "secret": str(secret)}
    before = postgres.state()
    alone = open_database(postgres.target(user), SECONDS + MARGIN, TIGHT.memory)
    for sql in {*POSTGRES_FORBIDDEN, *POSTGRES_HEAVY}.difference(GREEDY):
        assert "the,secret" not in provoke(alone, _named(sql, names)), sql
    alone.close()
    assert postgres.state() == before
    assert postgres.busy() == 0
    assert not (postgres.folder / "data" / "loot").exists()


def test_all_walls_together_before_a_server(postgres: PostgresHouse):
    names = {"outside": "/loot", "secret": "/etc/passwd"}
    for sql in POSTGRES_FORBIDDEN[::SOME]:
        assert outcome_of(_named(sql, names), postgres.target("postgres")) in {Reason.FORBIDDEN, Reason.MALFORMED}, sql
    for sql in POSTGRES_HEAVY[::2]:
        assert outcome_of(sql, postgres.target("postgres")) is Reason.TOO_MUCH, sql
    assert postgres.busy() == 0


def _named(sql: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        sql = sql.replace("{" + name + "}", value)
    return sql
