"""IndexStore: the text and metadata of every indexed file, in SQLite. The terms of the passages are in the postings.

A document is `pending` until the postings contain it, then `live`, and `doomed` after it was replaced or deleted. Of
documents with the same words, only one is in the postings. The others are copies of it; one that has just become a copy
is `withdrawn` until the postings no longer contain it.
"""

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

from marchwarden.core.blocks import Block, decode_blocks, encode_blocks
from marchwarden.core.notebook import Mark
from marchwarden.errors import StorageError
from marchwarden.extraction import Extracted
from marchwarden.researchers.files.models import IndexBatch, IndexDamaged, IndexEntry, SkipKind, SkippedFile

# SQLite uses a partial index only if the query repeats its condition word for word.
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL,
    state TEXT NOT NULL,
    stamp TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    skipped TEXT NOT NULL,
    kind TEXT NOT NULL,
    container TEXT NOT NULL,
    text_key TEXT NOT NULL,
    copy_of TEXT NOT NULL DEFAULT '',
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
CREATE INDEX IF NOT EXISTS left_out ON documents (kind, path) WHERE skipped != '' AND state = 'live';
CREATE INDEX IF NOT EXISTS files ON documents (path, stamp, state, container)
    WHERE state != 'doomed' AND container = '';
CREATE INDEX IF NOT EXISTS lengths ON documents (terms, state) WHERE state = 'live';
CREATE INDEX IF NOT EXISTS copied ON documents (path, copy_of, state)
    WHERE copy_of != '' AND state != 'doomed';
CREATE INDEX IF NOT EXISTS members ON documents (container) WHERE container != '' AND state != 'doomed';
CREATE INDEX IF NOT EXISTS copies ON documents (text_key, copy_of, media_type, container, path, state)
    WHERE state != 'doomed' AND text_key != '';
"""
_SELECT_STORED: Final = (
    "SELECT content_hash, text, title, author, published, media_type, layout, lines, marks, blocks, site FROM documents"
)
_SETTLED: Final = 1
_UNSETTLED: Final = 2
"""Values of `user_version`: whether the originals are chosen for all documents."""
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT})
_WAIT_SECONDS: Final = 5.0


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
                database.execute(
                    "UPDATE documents SET state = 'live', passages = 0, terms = 0 WHERE state = 'withdrawn'"
                )
                database.execute("UPDATE documents SET state = 'pending' WHERE skipped = '' AND copy_of = ''")
        return copied

    def stamps(self) -> dict[str, str]:
        """Return the stamps of all files by path, without the documents inside them."""
        with _translate_errors():
            return dict(
                self._database.execute("SELECT path, stamp FROM documents WHERE state != 'doomed' AND container = ''")
            )

    def read_again(self, reason: str) -> None:
        """Treat the files that were skipped for this reason as changed."""
        with _translate_errors(), self._database as database:
            database.execute(
                "UPDATE documents SET stamp = '', content_hash = '' "
                "WHERE skipped != '' AND state = 'live' AND instr(skipped, ?)",
                (reason,),
            )

    def content_hash(self, path: str) -> str:
        rows = self._query("SELECT content_hash FROM documents WHERE path = ? AND state != 'doomed'", (path,))
        return next((row[0] for row in rows), "")

    def record(self, batch: IndexBatch) -> None:
        """Save a batch. Until `mark_indexed`, new documents are pending and obsolete ones doomed."""
        with _translate_errors(), self._database as database:
            paths = [(path,) for path in batch.obsolete]
            database.executemany("UPDATE documents SET state = 'doomed' WHERE path = ? AND state != 'doomed'", paths)
            database.executemany(
                "UPDATE documents SET state = 'doomed' WHERE container = ? AND container != '' AND state != 'doomed'",
                paths,
            )
            database.executemany(
                "UPDATE documents SET stamp = ? WHERE path = ? AND state != 'doomed'",
                [(stamp, path) for path, stamp in batch.unchanged],
            )
            for entry in batch.entries:
                copy_of = self._original_of(entry.text_key)
                database.execute(
                    "INSERT INTO documents (path, state, stamp, content_hash, skipped, kind, container, text_key, "
                    "copy_of, title, author, site, published, media_type, layout, lines, marks, blocks, text) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    _to_row(entry, copy_of),
                )
            database.execute(f"PRAGMA user_version = {_UNSETTLED}")

    def settle_copies(self) -> bool:
        """Choose which of the documents with the same words is the original. Returns whether any choice changed.

        The choice does not depend on the order in which they were read: a web page first, then a file that is not
        inside another, then the first path.
        """
        if next(self._rows("PRAGMA user_version"))[0] != _UNSETTLED:
            return False
        changes: list[tuple[str, str, int]] = []
        original_key = original = ""
        for key, path, id_, copy_of in self._copies():
            is_original, original = key != original_key, path if key != original_key else original
            original_key = key
            if is_original and copy_of:
                changes.append(("pending", "", id_))
            elif not is_original and copy_of != original:
                changes.append(("live" if copy_of else "withdrawn", original, id_))
        with _translate_errors(), self._database as database:
            database.executemany("UPDATE documents SET state = ?, copy_of = ? WHERE id = ?", changes)
            database.execute(f"PRAGMA user_version = {_SETTLED}")
        return bool(changes)

    def _copies(self) -> Iterator[tuple[str, str, int, str]]:
        """Return all documents whose words other documents have too, or had, the preferred one of each kind first."""
        return self._rows(
            "SELECT text_key, path, id, copy_of FROM documents WHERE state != 'doomed' AND text_key IN ("
            "SELECT text_key FROM documents WHERE state != 'doomed' AND text_key != '' "
            "GROUP BY text_key HAVING count(*) > 1 OR max(copy_of) != '') AND text_key != '' "
            "ORDER BY text_key, media_type != 'text/html', container != '', path"
        )

    def _original_of(self, text_key: str) -> str:
        """Return the path of the document with the same words, or nothing."""
        rows = self._query(
            "SELECT path FROM documents WHERE state != 'doomed' AND text_key = ? AND text_key != '' AND copy_of = ''",
            (text_key,),
        )
        return next((row[0] for row in rows), "")

    def pending(self) -> list[tuple[int, str]]:
        """Return the ids and paths of the documents that the postings may not contain yet."""
        return [*self._rows("SELECT id, path FROM documents WHERE state = 'pending' AND state != 'live' ORDER BY id")]

    def load(self, id_: int) -> Extracted:
        """Return the text of a document."""
        return _from_row(next(self._query(f"{_SELECT_STORED} WHERE id = ?", (id_,)))).extracted

    def withdrawn_ids(self) -> list[int]:
        return [row[0] for row in self._query("SELECT id FROM documents WHERE state = 'withdrawn' AND state != 'live'")]

    def doomed_ids(self) -> list[int]:
        return [row[0] for row in self._query("SELECT id FROM documents WHERE state = 'doomed' AND state != 'live'")]

    def mark_indexed(self, indexed: Iterable[IndexedDocument], doomed_ids: Iterable[int]) -> None:
        """Mark documents that the postings now contain as live, and delete those they no longer contain."""
        with _translate_errors(), self._database as database:
            database.executemany(
                "UPDATE documents SET state = 'live', passages = ?, terms = ? WHERE id = ?",
                [(one.passages, one.terms, one.id) for one in indexed],
            )
            database.executemany("DELETE FROM documents WHERE id = ?", [(id_,) for id_ in doomed_ids])

    def document_count(self) -> int:
        where = "state = 'live' AND skipped = '' AND copy_of = ''"
        return int(next(self._query(f"SELECT count(*) FROM documents WHERE {where}"))[0])  # noqa: S608 - a constant

    def word_count(self) -> int:
        """Return the number of terms in all live documents."""
        return int(next(self._query("SELECT coalesce(sum(terms), 0) FROM documents WHERE state = 'live'"))[0])

    def skip_counts(self) -> Counter[SkipKind]:
        """Return how many files are skipped, by kind."""
        counts = Counter(
            {
                SkipKind(kind): count
                for kind, count in self._rows(
                    "SELECT kind, count(*) FROM documents WHERE skipped != '' AND state = 'live' GROUP BY kind"
                )
            }
        )
        copies = next(self._rows("SELECT count(*) FROM documents WHERE copy_of != '' AND state != 'doomed'"))[0]
        return counts + Counter({SkipKind.DUPLICATE: int(copies)})

    def skipped(self, kinds: Iterable[SkipKind] = tuple(SkipKind)) -> list[SkippedFile]:
        """Return the skipped files of these kinds."""
        found = [
            SkippedFile(path, reason, SkipKind(kind))
            for kind in kinds
            for path, reason in self._rows(
                "SELECT path, skipped FROM documents WHERE skipped != '' AND state = 'live' AND kind = ? ORDER BY path",
                (kind.value,),
            )
        ]
        if SkipKind.DUPLICATE in kinds:
            copies = self._rows(
                "SELECT path, copy_of FROM documents WHERE copy_of != '' AND state != 'doomed' ORDER BY path"
            )
            found += [SkippedFile(path, f"the same text as {other}", SkipKind.DUPLICATE) for path, other in copies]
        return found

    def summaries(self, ids: Sequence[int]) -> Mapping[int, DocumentSummary]:
        placeholders = ", ".join("?" * len(ids))
        statement = f"SELECT id, path, title, published FROM documents WHERE id IN ({placeholders})"  # noqa: S608 - placeholders only
        rows = self._query(statement, ids)
        return {row[0]: DocumentSummary(row[1], row[2], _parse_date(row[3])) for row in rows}

    def find(self, path: str) -> StoredDocument | None:
        rows = self._query(f"{_SELECT_STORED} WHERE path = ? AND state != 'doomed' AND skipped = ''", (path,))
        row = next(rows, None)
        return None if row is None else _from_row(row)

    def _rows(self, statement: str, values: Sequence[object] = ()) -> Iterator[Any]:
        """Yield rows as tuples whose types the statement determines."""
        return self._query(statement, values)

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


def _to_row(entry: IndexEntry, copy_of: str) -> tuple[object, ...]:
    found = entry.extracted or Extracted(text="")
    return (
        entry.path,
        "live" if entry.skipped or copy_of else "pending",
        entry.stamp,
        entry.content_hash,
        entry.skipped,
        entry.kind.value,
        entry.container,
        entry.text_key,
        copy_of,
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
