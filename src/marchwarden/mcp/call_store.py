"""Store which client requested which run, and its outcome, in an SQLite file or in memory.

The steps of a run are in its trace, to which this store refers. Does not know MCP or a researcher.
"""

import hashlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from marchwarden.core.paths import create_folder
from marchwarden.errors import StorageError

IN_MEMORY: Final = ":memory:"
LOCK_TIMEOUT_SEC: Final = 5.0
PRUNE_INTERVAL: Final = 500

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, owner TEXT NOT NULL, request TEXT NOT NULL,
    trace_id TEXT NOT NULL, booked INTEGER NOT NULL DEFAULT 0, at REAL NOT NULL, outcome TEXT);
CREATE INDEX IF NOT EXISTS runs_by_key ON runs (key, id);
CREATE INDEX IF NOT EXISTS runs_by_trace ON runs (trace_id);
CREATE TABLE IF NOT EXISTS tasks (
    digest TEXT PRIMARY KEY, owner TEXT NOT NULL, run INTEGER NOT NULL REFERENCES runs (id),
    began REAL NOT NULL, seconds REAL NOT NULL, cancelled REAL);
CREATE INDEX IF NOT EXISTS tasks_by_run ON tasks (run);
CREATE TABLE IF NOT EXISTS spent (
    owner TEXT NOT NULL, day TEXT NOT NULL, tokens INTEGER NOT NULL, PRIMARY KEY (owner, day));
"""


@dataclass(frozen=True)
class StoredRun:
    """A row of the table `runs`. `booked` is the number of tokens charged so far.

    `outcome` is None until the run ends, and again after pruning.
    """

    id: int
    key: str
    owner: str
    request: str
    trace_id: str
    booked: int
    at: float
    outcome: str | None


@dataclass(frozen=True)
class StoredTask:
    """A task and its run. `cancelled` is the time when its client cancelled it."""

    owner: str
    run: StoredRun
    began: float
    seconds: float
    cancelled: float | None


class CallStore:
    """Runs survive a crash of this process. Tasks also survive a power failure.

    Thread-safe, so that slow writes can run in a worker thread.
    """

    def __init__(self, connection: sqlite3.Connection, now: Callable[[], float] = time.time) -> None:
        self._connection = connection
        self._now = now
        self._lock = threading.Lock()
        self._prune_requests = 0

    @classmethod
    def open(cls, path: Path | None, now: Callable[[], float] = time.time) -> Self:
        """Open the file at `path`, or a store in memory if there is none."""
        try:
            if path is not None:
                create_folder(path.parent)
            connection = sqlite3.connect(
                IN_MEMORY if path is None else str(path),
                timeout=LOCK_TIMEOUT_SEC,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=64,
            )
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.executescript(_SCHEMA)
        except (sqlite3.Error, OSError) as error:
            raise StorageError(f"cannot open the call store {path}: {error}") from error
        return cls(connection, now)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def insert_run(self, key: str, owner: str, request: str, trace_id: str = "") -> int:
        with self._locked_connection() as connection:
            cursor = connection.execute(
                "INSERT INTO runs (key, owner, request, trace_id, at) VALUES (?, ?, ?, ?, ?)",
                (key, owner, request, trace_id, self._now()),
            )
            assert cursor.lastrowid is not None
            return cursor.lastrowid

    def set_trace_id(self, run: int, trace_id: str) -> None:
        with self._locked_connection() as connection:
            connection.execute("UPDATE runs SET trace_id = ?, at = ? WHERE id = ?", (trace_id, self._now(), run))

    def end_run(self, run: int, booked: int, outcome: str | None) -> None:
        """Store how a run ended. A run without an outcome was interrupted and can be continued."""
        with self._locked_connection() as connection:
            connection.execute(
                "UPDATE runs SET outcome = ?, booked = ?, at = ? WHERE id = ?", (outcome, booked, self._now(), run)
            )

    def latest_run(self, key: str, within: float) -> StoredRun | None:
        """Return the newest run with this key that started or ended in the last `within` seconds."""
        row = self._fetch_one(
            "SELECT * FROM runs WHERE key = ? AND at >= ? ORDER BY id DESC", (key, self._now() - within)
        )
        return StoredRun(*row) if row else None

    def run_owner(self, trace_id: str) -> str | None:
        """Return the name of the client that requested a run. None if this server did not run it."""
        row = self._fetch_one("SELECT owner FROM runs WHERE trace_id = ? ORDER BY id", (trace_id,))
        return str(row[0]) if row else None

    def insert_task(self, task_id: str, owner: str, run: int, seconds: float) -> None:
        """Store a task and sync it to disk before returning. Only a hash of its id is stored."""
        with self._locked_connection() as connection:
            connection.execute("PRAGMA synchronous = FULL")
            try:
                connection.execute(
                    "INSERT INTO tasks (digest, owner, run, began, seconds) VALUES (?, ?, ?, ?, ?)",
                    (_digest(task_id), owner, run, self._now(), seconds),
                )
            finally:
                connection.execute("PRAGMA synchronous = NORMAL")

    def find_task(self, task_id: str, owner: str) -> StoredTask | None:
        """Return the task if it belongs to this owner and has not expired."""
        row = self._fetch_one(
            "SELECT runs.*, tasks.began, tasks.seconds, tasks.cancelled FROM tasks JOIN runs ON runs.id = tasks.run"
            " WHERE tasks.digest = ? AND tasks.owner = ? AND tasks.began + tasks.seconds >= ?",
            (_digest(task_id), owner, self._now()),
        )
        return StoredTask(owner, StoredRun(*row[:8]), *row[8:]) if row else None

    def set_task_run(self, task_id: str, run: int) -> None:
        with self._locked_connection() as connection:
            connection.execute("UPDATE tasks SET run = ? WHERE digest = ?", (run, _digest(task_id)))

    def cancel_task(self, task_id: str) -> None:
        with self._locked_connection() as connection:
            connection.execute(
                "UPDATE tasks SET cancelled = ? WHERE digest = ? AND cancelled IS NULL", (self._now(), _digest(task_id))
            )

    def add_tokens(self, owner: str, day: str, tokens: int) -> None:
        with self._locked_connection() as connection:
            connection.execute(
                "INSERT INTO spent VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens",
                (owner, day, tokens),
            )

    def tokens_spent(self, owner: str, day: str) -> int:
        row = self._fetch_one("SELECT tokens FROM spent WHERE owner = ? AND day = ?", (owner, day))
        return int(row[0]) if row else 0

    def prune(self, within: float) -> None:
        """Delete expired tasks, and requests and outcomes that can no longer be fetched. Owners of runs stay."""
        with self._locked_connection() as connection:
            connection.execute("DELETE FROM tasks WHERE began + seconds < ?", (self._now(),))
            connection.execute(
                "UPDATE runs SET outcome = NULL, request = '' WHERE outcome IS NOT NULL AND at < ?"
                " AND id NOT IN (SELECT run FROM tasks)",
                (self._now() - within,),
            )

    def prune_periodically(self, within: float) -> None:
        """Prune at the first call and then at every `PRUNE_INTERVAL`-th."""
        self._prune_requests += 1
        if self._prune_requests % PRUNE_INTERVAL == 1:
            self.prune(within)

    def _fetch_one(self, query: str, values: tuple[object, ...]) -> tuple[Any, ...] | None:
        try:
            with self._lock:
                row = self._connection.execute(query + " LIMIT 1", values).fetchone()
        except sqlite3.Error as error:
            raise StorageError(f"cannot read the call store: {error}") from error
        return tuple(row) if row else None

    @contextmanager
    def _locked_connection(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._lock:
                yield self._connection
        except sqlite3.Error as error:
            raise StorageError(f"cannot write to the call store: {error}") from error


def _digest(task_id: str) -> str:
    return hashlib.sha256(task_id.encode()).hexdigest()
