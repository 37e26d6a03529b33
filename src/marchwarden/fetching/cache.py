"""FolderMemory: pages fetched before, in one small SQLite file; their bodies lie in the archive."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final

from marchwarden.errors import ArchiveDamaged, StorageError
from marchwarden.fetching.page import Page, Remembered
from marchwarden.storage.archive import Archive

_NAME: Final = "pages.sqlite"
_WAIT_SECONDS: Final = 2.0
_MOST_PAGES: Final = 20_000
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS pages (
    url TEXT PRIMARY KEY,
    content_hash TEXT NOT NULL,
    media_type TEXT NOT NULL,
    charset TEXT,
    fetched_at TEXT NOT NULL,
    etag TEXT NOT NULL,
    last_modified TEXT NOT NULL,
    fresh_until TEXT
) WITHOUT ROWID
"""


class FolderMemory:
    """Remembers across runs and processes. A body that is gone from the archive is a page not remembered."""

    def __init__(self, folder: Path, archive: Archive) -> None:
        self._folder = folder
        self._archive = archive

    def recall(self, url: str) -> Remembered | None:
        with self._opened() as database:
            row = database.execute(
                "SELECT content_hash, media_type, charset, fetched_at, etag, last_modified, fresh_until"
                " FROM pages WHERE url = ?",
                (url,),
            ).fetchone()
        if row is None:
            return None
        content_hash, media_type, charset, fetched_at, etag, last_modified, fresh_until = row
        try:
            content = self._archive.load(content_hash)
        except ArchiveDamaged:
            return None
        page = Page(url, url, content, media_type, charset, datetime.fromisoformat(fetched_at))
        return Remembered(page, etag, last_modified, datetime.fromisoformat(fresh_until) if fresh_until else None)

    def remember(self, url: str, remembered: Remembered) -> None:
        page = remembered.page
        fresh = remembered.fresh_until.isoformat() if remembered.fresh_until else None
        kept = self._archive.keep(page.content)
        row = (url, kept, page.media_type, page.charset, page.fetched_at.isoformat())
        with self._opened() as database:
            database.execute(
                "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, remembered.etag, remembered.last_modified, fresh),
            )
            database.execute(
                "DELETE FROM pages WHERE url IN (SELECT url FROM pages ORDER BY fetched_at DESC LIMIT -1 OFFSET ?)",
                (_MOST_PAGES,),
            )

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """A connection a call: calls come from many threads, and another process may be writing."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._folder / _NAME, timeout=_WAIT_SECONDS)) as database:
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("PRAGMA synchronous = NORMAL")
                database.execute(_SCHEMA)
                with database:
                    yield database
        except (sqlite3.Error, OSError) as error:
            raise StorageError(f"the memory of pages does not work: {error}") from error
