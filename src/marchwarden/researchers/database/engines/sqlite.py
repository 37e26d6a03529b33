"""SQLite, guarded thrice over by itself: opened read-only, told to only query, and watched by an authorizer."""

import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

from marchwarden.researchers.database.allowed_sql import SQLITE_FUNCTIONS
from marchwarden.researchers.database.engines import quoted_name
from marchwarden.researchers.database.jobs import Reason, Refused
from marchwarden.researchers.database.models import Column, Reference, Table, kind_of

LONGEST_VALUE: Final = 10_000_000
STEPS_BETWEEN_LOOKS: Final = 20_000
MOST_TABLES: Final = 500
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
    """One file of SQLite's."""

    dialect: Final = "sqlite"
    notices: Final = ()

    def __init__(self, path: str, memory: int) -> None:
        self._until = float("inf")
        try:
            self._connection = sqlite3.connect(_uri(path), uri=True, isolation_level=None, cached_statements=0)
            self._guard(memory)
            self._names = [row[0] for row in self._connection.execute(_NAMES)][:MOST_TABLES]
            for function in _TABLE_FUNCTIONS:
                # The first use declares it, which no later one may.
                self._connection.execute(f"SELECT 1 FROM {function}('[]')").close()  # noqa: S608 - a constant
        except sqlite3.Error as error:
            raise _refused(error) from error
        self._readable = {name.casefold() for name in self._names} | _TABLE_FUNCTIONS
        self._connection.set_authorizer(self._authorized)

    def relations(self) -> frozenset[str]:
        folded = [name.casefold() for name in self._names]
        return frozenset([*folded, *(f"main.{name}" for name in folded)])

    def tables(self) -> Sequence[Table]:
        self._connection.set_authorizer(None)
        try:
            return [self._described(name) for name in self._names if not name.casefold().startswith("sqlite_")]
        except sqlite3.Error as error:
            raise _refused(error) from error
        finally:
            self._connection.set_authorizer(self._authorized)

    def rows(self, sql: str, most: int, seconds: float) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
        self._until = time.monotonic() + seconds
        try:
            cursor = self._connection.execute(sql)
            found = cursor.fetchmany(most)
        except sqlite3.Error as error:
            raise _refused(error) from error
        columns = [str(each[0]) for each in cursor.description or ()]
        cursor.close()
        return columns, found

    def quoted(self, name: str) -> str:
        return quoted_name(name)

    def close(self) -> None:
        self._connection.close()

    def _guard(self, memory: int) -> None:
        for pragma in (*_PRAGMAS, f"hard_heap_limit = {memory // 2}"):
            self._connection.execute(f"PRAGMA {pragma}")
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        self._connection.text_factory = lambda content: content.decode("utf-8", "replace")
        self._connection.set_progress_handler(lambda: time.monotonic() > self._until, STEPS_BETWEEN_LOOKS)

    def _authorized(
        self, action: int, first: str | None, second: str | None, database: str | None, _within: str | None
    ) -> int:
        match action:
            case sqlite3.SQLITE_SELECT | sqlite3.SQLITE_RECURSIVE:
                allowed = True
            case sqlite3.SQLITE_READ:
                # Of no database and no column: only how many rows there are, in a table or a subquery.
                allowed = (database is None and not second) or (first or "").casefold() in self._readable
            case sqlite3.SQLITE_FUNCTION:
                allowed = second is not None and second.casefold() in SQLITE_FUNCTIONS
            case _:
                allowed = False
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    def _described(self, name: str) -> Table:
        columns = self._connection.execute(_COLUMNS, (name,)).fetchall()
        return Table(
            name,
            tuple(Column(column, kind_of(type_), type_, is_key=bool(key)) for column, type_, key in columns),
            tuple(self._references(name)),
        )

    def _references(self, name: str) -> Sequence[Reference]:
        found = self._connection.execute(_REFERENCES, (name,)).fetchall()
        return [Reference(own, table, target or self._key_of(table)) for own, table, target in found]

    def _key_of(self, table: str) -> str:
        """What a reference means that names a table and no column."""
        columns = self._connection.execute(_COLUMNS, (table,)).fetchall()
        return next((str(column) for column, _, position in columns if position), "")


_NAMES: Final = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid"
_COLUMNS: Final = "SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden IN (0, 2, 3) ORDER BY cid"
_REFERENCES: Final = 'SELECT "from", "table", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq'


def _uri(path: str) -> str:
    """Read-only; and where nobody has a write-ahead log open, without the files that one would create beside it."""
    with Path(path).open("rb") as file:
        logs_ahead = file.read(20)[18:] == b"\x02\x02"
    log = Path(f"{path}-wal")
    unchanging = logs_ahead and not (log.exists() and log.stat().st_size)
    return f"file:{quote(path)}?mode=ro{'&immutable=1' if unchanging else ''}"


def _refused(error: sqlite3.Error) -> Refused:
    # Errors of the module itself, such as two statements at once, carry no code.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return Refused(str(error), _REASONS.get(code & 0xFF, Reason.UNREACHABLE))
