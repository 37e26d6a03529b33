"""IndexStore: the text and metadata of every indexed file, in SQLite. The terms of the passages are in the postings.

A document is `pending` until the postings contain it, then `live`, and `doomed` after it was replaced or deleted.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Final

from marchwarden.core.blocks import Block, decode_blocks, encode_blocks
from marchwarden.core.notebook import Mark
from marchwarden.core.passages import Layout
from marchwarden.errors import StorageError
from marchwarden.extraction import Extracted
from marchwarden.researchers.files.models import IndexBatch, IndexDamaged, IndexedFile, IndexEntry, SkippedFile

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
    site TEXT NOT NULL,
    published TEXT,
    media_type TEXT NOT NULL,
    layout TEXT NOT NULL,
    lines INTEGER NOT NULL,
    marks TEXT NOT NULL,
    blocks TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS one_a_path ON documents (path) WHERE state != 'doomed';
CREATE INDEX IF NOT EXISTS unsettled ON documents (state) WHERE state != 'live';
CREATE INDEX IF NOT EXISTS left_out ON documents (path) WHERE skipped != '' AND state = 'live';
"""
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT})
_WAIT_SECONDS: Final = 5.0


@dataclass(frozen=True)
class PendingDocument:
    """A document that the postings may not contain yet."""

    id: int
    title: str
    layout: Layout
    blocks: tuple[Block, ...] = field(repr=False)
    text: str = field(repr=False)


@dataclass(frozen=True)
class IndexedDocument:
    """A document in the postings, with its number of passages and terms."""

    id: int
    passages: int
    terms: int


@dataclass(frozen=True)
class DocumentSummary:
    """The metadata that a hit shows."""

    path: str
    title: str
    published: date | None


@dataclass(frozen=True)
class StoredDocument:
    """The text of a document, and the hash of the content it was extracted from."""

    content_hash: str
    extracted: Extracted


class IndexStore:
    """The documents of one folder. Methods raise `IndexDamaged` or `StorageError` instead of SQLite's errors."""

    def __init__(self, path: Path | None = None, *, read_only: bool = False) -> None:
        """Open the file at `path`, or a store in memory."""
        with _translate_errors():
            place = f"{path.absolute().as_uri()}?{_read_only_mode(path)}" if path and read_only else path or ":memory:"
            self._database = sqlite3.connect(place, _WAIT_SECONDS, check_same_thread=False, uri=read_only)
            if read_only:
                return
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._database.executescript(_SCHEMA)

    def close(self) -> None:
        self._database.close()

    def copy_to_memory(self) -> "IndexStore":
        """Return a copy in which all documents are pending, because it has no postings yet."""
        copied = IndexStore()
        with _translate_errors():
            self._database.backup(copied._database, progress=_stop_if_locked)
            with copied._database as database:
                database.execute("DELETE FROM documents WHERE state = 'doomed'")
                database.execute("UPDATE documents SET state = 'pending' WHERE skipped = ''")
        return copied

    def known_files(self) -> dict[str, IndexedFile]:
        rows = self._query("SELECT path, id, stamp, content_hash FROM documents WHERE state != 'doomed'")
        return {row[0]: IndexedFile(*row[1:]) for row in rows}

    def record(self, batch: IndexBatch) -> None:
        """Save a batch. Until `mark_indexed`, new documents are pending and obsolete ones doomed."""
        with _translate_errors(), self._database as database:
            database.executemany(
                "UPDATE documents SET state = 'doomed' WHERE id = ?", [(id_,) for id_ in batch.obsolete]
            )
            database.executemany(
                "UPDATE documents SET stamp = ? WHERE id = ?", [(new, id_) for id_, new in batch.unchanged]
            )
            database.executemany(
                "INSERT INTO documents (path, state, stamp, content_hash, skipped, title, author, site, published, "
                "media_type, layout, lines, marks, blocks, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                map(_to_row, batch.entries),
            )

    def pending(self) -> Iterator[PendingDocument]:
        yield from (
            PendingDocument(id_, title, layout, _decode_blocks(blocks), text)
            for id_, title, layout, blocks, text in self._query(
                "SELECT id, title, layout, blocks, text FROM documents WHERE state = 'pending'"
            )
        )

    def doomed_ids(self) -> list[int]:
        return [row[0] for row in self._query("SELECT id FROM documents WHERE state = 'doomed'")]

    def mark_indexed(self, indexed: Iterable[IndexedDocument], doomed_ids: Iterable[int]) -> None:
        """Mark documents that the postings now contain as live, and delete those they no longer contain."""
        with _translate_errors(), self._database as database:
            database.executemany(
                "UPDATE documents SET state = 'live', passages = ?, terms = ? WHERE id = ?",
                [(one.passages, one.terms, one.id) for one in indexed],
            )
            database.executemany("DELETE FROM documents WHERE id = ?", [(id_,) for id_ in doomed_ids])

    def document_count(self) -> int:
        return int(next(self._query("SELECT count(*) FROM documents WHERE state = 'live' AND skipped = ''"))[0])

    def word_count(self) -> int:
        """Return the number of terms in all live documents."""
        return int(next(self._query("SELECT coalesce(sum(terms), 0) FROM documents WHERE state = 'live'"))[0])

    def skipped(self) -> list[SkippedFile]:
        rows = self._query("SELECT path, skipped FROM documents WHERE skipped != '' AND state = 'live' ORDER BY path")
        return [SkippedFile(*row) for row in rows]

    def summaries(self, ids: Sequence[int]) -> Mapping[int, DocumentSummary]:
        placeholders = ", ".join("?" * len(ids))
        statement = f"SELECT id, path, title, published FROM documents WHERE id IN ({placeholders})"  # noqa: S608 - placeholders only
        rows = self._query(statement, ids)
        return {row[0]: DocumentSummary(row[1], row[2], _parse_date(row[3])) for row in rows}

    def find(self, path: str) -> StoredDocument | None:
        rows = self._query(
            "SELECT content_hash, text, title, author, published, media_type, layout, lines, marks, blocks, site"
            " FROM documents"
            " WHERE path = ? AND state != 'doomed' AND skipped = ''",
            (path,),
        )
        row = next(rows, None)
        return None if row is None else _from_row(row)

    def _query(self, statement: str, values: Sequence[object] = ()) -> Iterator[sqlite3.Row]:
        with _translate_errors():
            yield from self._database.execute(statement, values)


def _read_only_mode(path: Path) -> str:
    """Return the URI parameters to open a file without changing it."""
    # SQLite creates files next to it, which a read-only file system does not allow, unless it is declared immutable.
    return "mode=ro&immutable=1" if os.statvfs(path).f_flag & os.ST_RDONLY else "mode=ro"


def _stop_if_locked(status: int, _remaining: int, _total: int) -> None:
    # Otherwise the copy would wait for another process forever.
    if status in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        raise StorageError("another process has locked the index")


def _to_row(entry: IndexEntry) -> tuple[object, ...]:
    found = entry.extracted or Extracted(text="")
    return (
        entry.path,
        "live" if entry.skipped else "pending",
        entry.stamp,
        entry.content_hash,
        entry.skipped,
        found.title,
        found.author,
        found.site,
        found.published.isoformat() if found.published else None,
        found.media_type,
        found.layout,
        found.lines,
        json.dumps([(mark.start, mark.fragment) for mark in found.marks]),
        encode_blocks(found.blocks),
        found.text,
    )


def _from_row(row: sqlite3.Row) -> StoredDocument:
    content_hash, text, title, author, published, media_type, layout, lines, marks_json, blocks, site = row
    marks = tuple(Mark(start, fragment) for start, fragment in json.loads(marks_json))
    day = _parse_date(published)
    found = Extracted(
        text, title, author, day, media_type, layout, bool(lines), marks, _decode_blocks(blocks), site=site
    )
    return StoredDocument(content_hash, found)


def _decode_blocks(encoded: str) -> tuple[Block, ...]:
    try:
        return decode_blocks(encoded)
    except ValueError as error:
        raise IndexDamaged("the blocks of a document are malformed") from error


def _parse_date(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        # The low byte is the primary error code.
        damaged = (getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF) in _DAMAGE
        raise (IndexDamaged if damaged else StorageError)(f"{type(error).__name__}: {error}") from error
