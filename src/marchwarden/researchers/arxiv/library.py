"""Library: papers saved by the user with their full text and searched offline. Does not access the network.

An SQLite file holds the metadata and a full-text index. The bodies are in an archive next to it, under their hashes.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import Json, TypeAdapter, ValidationError

from marchwarden.core.notebook import Document
from marchwarden.core.passages import split
from marchwarden.core.paths import create_folder
from marchwarden.errors import ArchiveDamaged, StorageError
from marchwarden.researchers.arxiv.identifiers import ArxivId
from marchwarden.researchers.arxiv.models import Paper
from marchwarden.storage.archive import Archive

MOST_PASSAGES: Final = 200
MOST_PAPERS: Final = 30
_NAME: Final = "library.sqlite"
_WAIT_SECONDS: Final = 5.0
_TITLE_WEIGHT: Final = 3.0
_PAPER: Final = TypeAdapter(Paper)
_DOCUMENT: Final = TypeAdapter(Document)
_FIELDS: Final = TypeAdapter(dict[str, object])
_BODIES: Final = {"content", "text"}
_SCHEMA: Final = (
    """
    CREATE TABLE IF NOT EXISTS papers (
        number TEXT PRIMARY KEY,
        paper TEXT NOT NULL,
        document TEXT NOT NULL,
        content_hash TEXT NOT NULL,
        text_hash TEXT NOT NULL,
        added TEXT NOT NULL
    ) WITHOUT ROWID
    """,
    """
    CREATE VIRTUAL TABLE IF NOT EXISTS passages
    USING fts5(number UNINDEXED, title, words, tokenize='porter unicode61')
    """,
)


@dataclass(frozen=True)
class LibraryPaper:
    """A paper in the library, when it was added, and the format and hashes of its text."""

    paper: Paper
    added: datetime
    media_type: str
    content_hash: str
    text_hash: str


@dataclass(frozen=True)
class LibraryHit:
    """A paper that matches a search, with its best passage."""

    paper: Paper
    words: str


class Library:
    """The local library. Safe to use from several threads and processes. Disk errors become `StorageError`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._archive = Archive(folder / "archive")

    def add(self, paper: Paper, document: Document) -> None:
        """Save a paper and replace any other version of it. The change is atomic, even if the process is killed."""
        hashes = self._archive.keep(document.content), self._archive.keep(document.text.encode())
        passages = [
            (paper.id.number, paper.title, f"{passage.heading}\n{document.text[passage.start : passage.end]}")
            for passage in split(document.text, document.layout, document.blocks)
        ]
        described = _DOCUMENT.dump_json(document, exclude=_BODIES).decode()
        row = (paper.id.number, _PAPER.dump_json(replace(paper, entry=b"")).decode(), described, *hashes, _now())
        with self._transaction(create=True) as database:
            database.execute("DELETE FROM passages WHERE number = ?", (paper.id.number,))
            database.execute("INSERT OR REPLACE INTO papers VALUES (?, ?, ?, ?, ?, ?)", row)
            database.executemany("INSERT INTO passages VALUES (?, ?, ?)", passages)

    def remove(self, name: ArxivId) -> bool:
        """Remove a paper and return whether it existed. Bodies shared with another paper stay."""
        with self._transaction() as database:
            saved = _find_row(database, name)
            if saved is None:
                return False
            database.execute("DELETE FROM passages WHERE number = ?", (name.number,))
            database.execute("DELETE FROM papers WHERE number = ?", (name.number,))
            rest = database.execute("SELECT content_hash, text_hash FROM papers").fetchall()
        for body in {saved.content_hash, saved.text_hash} - {each for pair in rest for each in pair}:
            self._archive.path(body).unlink(missing_ok=True)
        return True

    def papers(self) -> Sequence[LibraryPaper]:
        """Return all papers, most recently added first."""
        with self._transaction() as database:
            rows = database.execute(f"SELECT {_COLUMNS} FROM papers ORDER BY added DESC, number").fetchall()  # noqa: S608 - our own columns
            return [_parse_row(row) for row in rows]

    def find(self, name: ArxivId) -> LibraryPaper | None:
        """Return the paper with this id. An id with a version matches only that version."""
        with self._transaction() as database:
            found = _find_row(database, name)
        return found if found and name.version in (None, found.paper.id.version) else None

    def document(self, name: ArxivId) -> Document | None:
        """Return the saved document, or None if the paper is not in the library or its bodies are damaged."""
        with self._transaction() as database:
            row = database.execute("SELECT document FROM papers WHERE number = ?", (name.number,)).fetchone()
        saved = self.find(name)
        if row is None or saved is None:
            return None
        try:
            bodies = {
                "content": self._archive.load(saved.content_hash),
                "text": self._archive.load(saved.text_hash).decode(),
            }
            return _DOCUMENT.validate_python({**_FIELDS.validate_json(row[0]), **bodies})
        except (ArchiveDamaged, ValidationError, UnicodeDecodeError):
            return None

    def search(self, words: Sequence[str]) -> Sequence[LibraryHit]:
        """Return the papers whose passages match any of the words, best first."""
        # FTS5 ends a word at a quotation mark, and the whole query at a NUL.
        match = " OR ".join(f'"{word}"' for word in words if not {'"', "\0"} & set(word))
        if not match:
            return ()
        with self._transaction() as database:
            rows = database.execute(
                "SELECT number, words FROM passages WHERE passages MATCH ?"
                " ORDER BY bm25(passages, 0, ?, 1), rowid LIMIT ?",
                (match, _TITLE_WEIGHT, MOST_PASSAGES),
            ).fetchall()
            best: dict[str, str] = {}
            for number, passage in rows:
                best.setdefault(number, passage)
            found = [
                (_find_row(database, ArxivId(number)), passage) for number, passage in [*best.items()][:MOST_PAPERS]
            ]
        return [LibraryHit(saved.paper, passage) for saved, passage in found if saved]

    @contextmanager
    def _transaction(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        """Open the database for one transaction. Reading a library that does not exist creates no file."""
        path = self.folder / _NAME
        try:
            if create:
                create_folder(self.folder)
            place = str(path) if create or path.is_file() else ":memory:"
            with closing(sqlite3.connect(place, timeout=_WAIT_SECONDS)) as database, database:
                for statement in _SCHEMA:
                    database.execute(statement)
                yield database
        except (sqlite3.Error, OSError, ValidationError) as error:
            raise StorageError(f"the arXiv library in {self.folder} cannot be used: {error}") from error


_COLUMNS: Final = "paper, added, document, content_hash, text_hash"


def _find_row(database: sqlite3.Connection, name: ArxivId) -> LibraryPaper | None:
    row = database.execute(f"SELECT {_COLUMNS} FROM papers WHERE number = ?", (name.number,)).fetchone()  # noqa: S608 - our own columns
    return _parse_row(row) if row else None


class _StoredPaper(NamedTuple):
    """The columns of a paper in the database, in their order."""

    paper: Json[Paper]
    added: datetime
    document: Json[dict[str, object]]
    content_hash: str
    text_hash: str


_ROW: Final = TypeAdapter(_StoredPaper)


def _parse_row(row: object) -> LibraryPaper:
    """Parse a row. Raises `ValidationError` if something else changed it."""
    stored = _ROW.validate_python(row)
    media_type = str(stored.document.get("media_type", ""))
    return LibraryPaper(stored.paper, stored.added, media_type, stored.content_hash, stored.text_hash)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
