"""Ledger: which calls were made, by whom, and what came of them, in one SQLite file or in memory.

Knows no researcher and no MCP. What a run did stands in its trace; this only leads back to it.
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

from marchwarden.errors import StorageError

IN_MEMORY: Final = ":memory:"
PATIENCE_SEC: Final = 5.0
PRUNED_EVERY: Final = 500

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
    """One run as it was noted; `booked` tokens of it are paid for.

    `outcome` is None until it is over, and again when it is too old to be kept.
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
    """One task: a caller's claim on a run. `cancelled` is when its caller gave it up."""

    owner: str
    run: StoredRun
    began: float
    seconds: float
    cancelled: float | None


class CallStore:
    """Everything noted survives the death of this process; a task survives that of the machine, too.

    Safe to use from several threads: whoever may wait for the disk does it in one of its own.
    """

    def __init__(self, connection: sqlite3.Connection, now: Callable[[], float] = time.time) -> None:
        self._connection = connection
        self._now = now
        self._lock = threading.Lock()
        self._noted = 0

    @classmethod
    def open(cls, path: Path | None, now: Callable[[], float] = time.time) -> Self:
        """The ledger at `path`, or without one a ledger that is forgotten with this process."""
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            where = IN_MEMORY if path is None else str(path)
            connection = sqlite3.connect(
                where, timeout=PATIENCE_SEC, isolation_level=None, check_same_thread=False, cached_statements=64
            )
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.executescript(_SCHEMA)
        except (sqlite3.Error, OSError) as error:
            raise StorageError(f"the ledger of calls {path} cannot be opened: {error}") from error
        return cls(connection, now)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def begin(self, key: str, owner: str, request: str, trace_id: str = "") -> int:
        with self._writing() as ledger:
            row = ledger.execute(
                "INSERT INTO runs (key, owner, request, trace_id, at) VALUES (?, ?, ?, ?, ?)",
                (key, owner, request, trace_id, self._now()),
            )
            assert row.lastrowid is not None
            return row.lastrowid

    def identify(self, run: int, trace_id: str) -> None:
        with self._writing() as ledger:
            ledger.execute("UPDATE runs SET trace_id = ?, at = ? WHERE id = ?", (trace_id, self._now(), run))

    def end(self, run: int, booked: int, outcome: str | None) -> None:
        """The run is over; without an outcome it was cut short, and whoever asks again can take it up."""
        with self._writing() as ledger:
            ledger.execute(
                "UPDATE runs SET outcome = ?, booked = ?, at = ? WHERE id = ?", (outcome, booked, self._now(), run)
            )

    def latest(self, key: str, within: float) -> StoredRun | None:
        """The last run of that key that began, stopped or ended no longer ago than this."""
        found = self._one("SELECT * FROM runs WHERE key = ? AND at >= ? ORDER BY id DESC", (key, self._now() - within))
        return StoredRun(*found) if found else None

    def owner(self, trace_id: str) -> str | None:
        """Who asked for that run; None for a run that did not come in here."""
        found = self._one("SELECT owner FROM runs WHERE trace_id = ? ORDER BY id", (trace_id,))
        return str(found[0]) if found else None

    def open_task(self, task_id: str, owner: str, run: int, seconds: float) -> None:
        """When this returns the task is on the disk, not only on its way there. Only a digest of its id is kept."""
        with self._writing() as ledger:
            ledger.execute("PRAGMA synchronous = FULL")
            try:
                ledger.execute(
                    "INSERT INTO tasks (digest, owner, run, began, seconds) VALUES (?, ?, ?, ?, ?)",
                    (_digest(task_id), owner, run, self._now(), seconds),
                )
            finally:
                ledger.execute("PRAGMA synchronous = NORMAL")

    def task(self, task_id: str, owner: str) -> StoredTask | None:
        """The task of that id, if it is this owner's and not yet too old."""
        found = self._one(
            "SELECT runs.*, tasks.began, tasks.seconds, tasks.cancelled FROM tasks JOIN runs ON runs.id = tasks.run"
            " WHERE tasks.digest = ? AND tasks.owner = ? AND tasks.began + tasks.seconds >= ?",
            (_digest(task_id), owner, self._now()),
        )
        return StoredTask(owner, StoredRun(*found[:8]), *found[8:]) if found else None

    def follow(self, task_id: str, run: int) -> None:
        """The task now stands for that run."""
        with self._writing() as ledger:
            ledger.execute("UPDATE tasks SET run = ? WHERE digest = ?", (run, _digest(task_id)))

    def cancel_task(self, task_id: str) -> None:
        with self._writing() as ledger:
            ledger.execute(
                "UPDATE tasks SET cancelled = ? WHERE digest = ? AND cancelled IS NULL", (self._now(), _digest(task_id))
            )

    def spend(self, owner: str, day: str, tokens: int) -> None:
        with self._writing() as ledger:
            ledger.execute(
                "INSERT INTO spent VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens",
                (owner, day, tokens),
            )

    def spent(self, owner: str, day: str) -> int:
        found = self._one("SELECT tokens FROM spent WHERE owner = ? AND day = ?", (owner, day))
        return int(found[0]) if found else 0

    def prune(self, within: float) -> None:
        """Forget tasks that are too old, and outcomes nobody can ask for any more; who asked for what stays."""
        with self._writing() as ledger:
            ledger.execute("DELETE FROM tasks WHERE began + seconds < ?", (self._now(),))
            ledger.execute(
                "UPDATE runs SET outcome = NULL, request = '' WHERE outcome IS NOT NULL AND at < ?"
                " AND id NOT IN (SELECT run FROM tasks)",
                (self._now() - within,),
            )

    def prune_sometimes(self, within: float) -> None:
        self._noted += 1
        if self._noted % PRUNED_EVERY == 1:
            self.prune(within)

    def _one(self, question: str, values: tuple[object, ...]) -> tuple[Any, ...] | None:
        try:
            with self._lock:
                found = self._connection.execute(question + " LIMIT 1", values).fetchone()
        except sqlite3.Error as error:
            raise StorageError(f"the ledger of calls cannot be read: {error}") from error
        return tuple(found) if found else None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._lock:
                yield self._connection
        except sqlite3.Error as error:
            raise StorageError(f"the ledger of calls cannot be written: {error}") from error


def _digest(task_id: str) -> str:
    return hashlib.sha256(task_id.encode()).hexdigest()
