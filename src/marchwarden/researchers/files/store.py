"""Store: what the index keeps of every file, in SQLite. The text lives here; where words stand in it does not.

A document is `pending` until the postings hold it, `live` then, and `doomed` once another has taken its place.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Final

from marchwarden.core.notebook import Mark
from marchwarden.core.passages import Layout
from marchwarden.errors import StorageError
from marchwarden.extraction import Extracted
from marchwarden.researchers.files.models import Batch, Entry, IndexDamaged, Known, Skipped

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL,
    state TEXT NOT NULL,
    stamp TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    skipped TEXT NOT NULL,
    passages INTEGER NOT NULL DEFAULT 0,
    terms INTEGER NOT NULL DEFAULT 0,
    title TEXT NOT NULL,
    author TEXT NOT NULL,
    published TEXT,
    media_type TEXT NOT NULL,
    layout TEXT NOT NULL,
    lines INTEGER NOT NULL,
    marks TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS one_a_path ON documents (path) WHERE state != 'doomed';
CREATE INDEX IF NOT EXISTS unsettled ON documents (state) WHERE state != 'live';
CREATE INDEX IF NOT EXISTS left_out ON documents (path) WHERE skipped != '' AND state = 'live';
"""
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT})
_WAIT_SECONDS: Final = 5.0


@dataclass(frozen=True)
class Pending:
    """A document whose words the postings may not hold yet."""

    id: int
    title: str
    layout: Layout
    text: str = field(repr=False)


@dataclass(frozen=True)
class Settled:
    """A document whose words the postings hold: how many passages and words."""

    id: int
    passages: int
    terms: int


@dataclass(frozen=True)
class Described:
    """A document as a hit shows it."""

    path: str
    title: str
    published: date | None


@dataclass(frozen=True)
class Stored:
    """A document's text, and the hash of the bytes it was extracted from."""

    content_hash: str
    extracted: Extracted


class Store:
    """The documents of one folder. Every error of SQLite leaves as `IndexDamaged` or `StorageError`."""

    def __init__(self, path: Path) -> None:
        with _translated():
            self._database = sqlite3.connect(path, timeout=_WAIT_SECONDS, check_same_thread=False)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._database.executescript(_SCHEMA)

    def close(self) -> None:
        self._database.close()

    def known(self) -> dict[str, Known]:
        rows = self._rows("SELECT path, id, stamp, content_hash FROM documents WHERE state != 'doomed'")
        return {row[0]: Known(*row[1:]) for row in rows}

    def record(self, batch: Batch) -> None:
        """Take a batch in. Its new documents are pending and the obsolete ones doomed until `settle`."""
        with _translated(), self._database as database:
            database.executemany(
                "UPDATE documents SET state = 'doomed' WHERE id = ?", [(id_,) for id_ in batch.obsolete]
            )
            database.executemany(
                "UPDATE documents SET stamp = ? WHERE id = ?", [(new, id_) for id_, new in batch.unchanged]
            )
            database.executemany(
                "INSERT INTO documents (path, state, stamp, content_hash, skipped, title, author, published, "
                "media_type, layout, lines, marks, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                map(_row, batch.entries),
            )

    def pending(self) -> Iterator[Pending]:
        yield from (
            Pending(*row) for row in self._rows("SELECT id, title, layout, text FROM documents WHERE state = 'pending'")
        )

    def doomed(self) -> list[int]:
        return [row[0] for row in self._rows("SELECT id FROM documents WHERE state = 'doomed'")]

    def settle(self, settled: Iterable[Settled], doomed: Iterable[int]) -> None:
        """The postings hold the settled and have forgotten the doomed."""
        with _translated(), self._database as database:
            database.executemany(
                "UPDATE documents SET state = 'live', passages = ?, terms = ? WHERE id = ?",
                [(one.passages, one.terms, one.id) for one in settled],
            )
            database.executemany("DELETE FROM documents WHERE id = ?", [(id_,) for id_ in doomed])

    def words(self) -> int:
        """How many words all live documents have together."""
        return int(next(self._rows("SELECT coalesce(sum(terms), 0) FROM documents WHERE state = 'live'"))[0])

    def skipped(self) -> list[Skipped]:
        rows = self._rows("SELECT path, skipped FROM documents WHERE skipped != '' AND state = 'live' ORDER BY path")
        return [Skipped(*row) for row in rows]

    def described(self, ids: Sequence[int]) -> Mapping[int, Described]:
        marks = ", ".join("?" * len(ids))
        statement = f"SELECT id, path, title, published FROM documents WHERE id IN ({marks})"  # noqa: S608 - only marks
        rows = self._rows(statement, ids)
        return {row[0]: Described(row[1], row[2], _date(row[3])) for row in rows}

    def stored(self, path: str) -> Stored | None:
        rows = self._rows(
            "SELECT content_hash, text, title, author, published, media_type, layout, lines, marks FROM documents"
            " WHERE path = ? AND state != 'doomed' AND skipped = ''",
            (path,),
        )
        row = next(rows, None)
        return None if row is None else _stored(row)

    def _rows(self, statement: str, values: Sequence[object] = ()) -> Iterator[sqlite3.Row]:
        with _translated():
            yield from self._database.execute(statement, values)


def _row(entry: Entry) -> tuple[object, ...]:
    found = entry.extracted or Extracted(text="")
    return (
        entry.path,
        "live" if entry.skipped else "pending",
        entry.stamp,
        entry.content_hash,
        entry.skipped,
        found.title,
        found.author,
        found.published.isoformat() if found.published else None,
        found.media_type,
        found.layout,
        found.lines,
        json.dumps([(mark.start, mark.fragment) for mark in found.marks]),
        found.text,
    )


def _stored(row: sqlite3.Row) -> Stored:
    content_hash, text, title, author, published, media_type, layout, lines, marks = row
    places = tuple(Mark(start, fragment) for start, fragment in json.loads(marks))
    extracted = Extracted(text, title, author, _date(published), media_type, layout, bool(lines), places)
    return Stored(content_hash, extracted)


def _date(written: str | None) -> date | None:
    return date.fromisoformat(written) if written else None


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        # The low byte is the error; the rest only refines it.
        damaged = (getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF) in _DAMAGE
        raise (IndexDamaged if damaged else StorageError)(f"{type(error).__name__}: {error}") from error
