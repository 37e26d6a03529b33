"""SQLite: opened read-only, with `query_only` and with an authorizer."""

import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

from marchwarden.researchers.database.allowed_sql import SQLITE_FUNCTIONS
from marchwarden.researchers.database.engines import quote_identifier
from marchwarden.researchers.database.jobs import QueryRefused, Reason
from marchwarden.researchers.database.models import Column, Reference, Table, kind_from_type

MAX_VALUE_LENGTH: Final = 10_000_000
STEPS_BETWEEN_CHECKS: Final = 20_000
MAX_TABLES: Final = 500
_TABLE_FUNCTIONS: Final = frozenset({"json_each", "json_tree"})
_PRAGMAS: Final = (
    "query_only = ON",
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "temp_store = MEMORY",
    "mmap_size = 0",
)
_REASONS: Final = {
    sqlite3.SQLITE_AUTH: Reason.FORBIDDEN,
    sqlite3.SQLITE_READONLY: Reason.FORBIDDEN,
    sqlite3.SQLITE_ERROR: Reason.MALFORMED,
    sqlite3.SQLITE_INTERRUPT: Reason.TOO_MUCH,
    sqlite3.SQLITE_NOMEM: Reason.TOO_MUCH,
    sqlite3.SQLITE_TOOBIG: Reason.TOO_MUCH,
    sqlite3.SQLITE_FULL: Reason.TOO_MUCH,
}


class SqliteFile:
    dialect: Final = "sqlite"
    notices: Final = ()

    def __init__(self, path: str, memory: int) -> None:
        self._deadline = float("inf")
        try:
            self._connection = sqlite3.connect(_uri(path), uri=True, isolation_level=None, cached_statements=0)
            self._guard(memory)
            self._names = [row[0] for row in self._connection.execute(_NAMES)][:MAX_TABLES]
            for function in _TABLE_FUNCTIONS:
                # The first use declares the function. The authorizer does not allow that later.
                self._connection.execute(f"SELECT 1 FROM {function}('[]')").close()  # noqa: S608 - a constant
        except sqlite3.Error as error:
            raise _translate_error(error) from error
        self._readable = {name.casefold() for name in self._names} | _TABLE_FUNCTIONS
        self._connection.set_authorizer(self._authorize)

    def relations(self) -> frozenset[str]:
        folded = [name.casefold() for name in self._names]
        return frozenset([*folded, *(f"main.{name}" for name in folded)])

    def tables(self) -> Sequence[Table]:
        self._connection.set_authorizer(None)
        try:
            return [self._describe_table(name) for name in self._names if not name.casefold().startswith("sqlite_")]
        except sqlite3.Error as error:
            raise _translate_error(error) from error
        finally:
            self._connection.set_authorizer(self._authorize)

    def rows(self, sql: str, max_rows: int, seconds: float) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
        self._deadline = time.monotonic() + seconds
        try:
            cursor = self._connection.execute(sql)
            found = cursor.fetchmany(max_rows)
        except sqlite3.Error as error:
            raise _translate_error(error) from error
        columns = [str(each[0]) for each in cursor.description or ()]
        cursor.close()
        return columns, found

    def quote_name(self, name: str) -> str:
        return quote_identifier(name)

    def close(self) -> None:
        self._connection.close()

    def _guard(self, memory: int) -> None:
        for pragma in (*_PRAGMAS, f"hard_heap_limit = {memory // 2}"):
            self._connection.execute(f"PRAGMA {pragma}")
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_LENGTH)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        self._connection.text_factory = lambda content: content.decode("utf-8", "replace")
        self._connection.set_progress_handler(lambda: time.monotonic() > self._deadline, STEPS_BETWEEN_CHECKS)

    def _authorize(
        self, action: int, first: str | None, second: str | None, database: str | None, _within: str | None
    ) -> int:
        match action:
            case sqlite3.SQLITE_SELECT | sqlite3.SQLITE_RECURSIVE:
                allowed = True
            case sqlite3.SQLITE_READ:
                # Without database and column, only the number of rows of a table or subquery is read.
                allowed = (database is None and not second) or (first or "").casefold() in self._readable
            case sqlite3.SQLITE_FUNCTION:
                allowed = second is not None and second.casefold() in SQLITE_FUNCTIONS
            case _:
                allowed = False
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    def _describe_table(self, name: str) -> Table:
        columns = self._connection.execute(_COLUMNS, (name,)).fetchall()
        return Table(
            name,
            tuple(Column(column, kind_from_type(type_), type_, is_key=bool(key)) for column, type_, key in columns),
            tuple(self._references(name)),
        )

    def _references(self, name: str) -> Sequence[Reference]:
        found = self._connection.execute(_REFERENCES, (name,)).fetchall()
        return [Reference(own, table, target or self._primary_key(table)) for own, table, target in found]

    def _primary_key(self, table: str) -> str:
        """Return the target of a reference that names no column."""
        columns = self._connection.execute(_COLUMNS, (table,)).fetchall()
        return next((str(column) for column, _, position in columns if position), "")


_NAMES: Final = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid"
_COLUMNS: Final = "SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden IN (0, 2, 3) ORDER BY cid"
_REFERENCES: Final = 'SELECT "from", "table", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq'


def _uri(path: str) -> str:
    """Build a read-only URI. Without an active write-ahead log it is `immutable`, so that SQLite creates no files."""
    with Path(path).open("rb") as file:
        has_wal = file.read(20)[18:] == b"\x02\x02"
    wal = Path(f"{path}-wal")
    is_unchanging = has_wal and not (wal.exists() and wal.stat().st_size)
    return f"file:{quote(path)}?mode=ro{'&immutable=1' if is_unchanging else ''}"


def _translate_error(error: sqlite3.Error) -> QueryRefused:
    # Errors of the Python module itself, such as for two statements in one call, have no code.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return QueryRefused(str(error), _REASONS.get(code & 0xFF, Reason.UNREACHABLE))
