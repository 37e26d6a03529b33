"""Fetched pages, and a cache of them in a small SQLite file. The bodies are stored in the archive."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from pydantic import AwareDatetime, TypeAdapter, ValidationError

from marchwarden.core.paths import create_folder
from marchwarden.errors import ArchiveDamaged, StorageError
from marchwarden.storage.archive import Archive

_NAME: Final = "pages.sqlite"
_WAIT_SECONDS: Final = 2.0
_MAX_PAGES: Final = 20_000
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


@dataclass(frozen=True)
class Page:
    """The decoded body of a page and its metadata. `url` is the final URL after redirects.

    `fetched_at` is when the host last sent or confirmed the page. `reused` means that the body came from the cache.
    """

    url: str
    requested_url: str
    content: bytes = field(repr=False)
    media_type: str
    charset: str | None
    fetched_at: datetime
    reused: bool = False


@dataclass(frozen=True)
class CachedPage:
    """A page with the validators for a conditional request."""

    page: Page
    etag: str = ""
    last_modified: str = ""
    fresh_until: datetime | None = None


class PageCache(Protocol):
    """Pages by final URL. Methods run in worker threads and raise only `StorageError`."""

    def get(self, url: str) -> CachedPage | None: ...

    def put(self, url: str, cached: CachedPage) -> None: ...


class _StoredPage(NamedTuple):
    """A row of the cache without its key. The file may have been changed by something else, so rows are validated."""

    content_hash: str
    media_type: str
    charset: str | None
    fetched_at: AwareDatetime
    etag: str
    last_modified: str
    fresh_until: AwareDatetime | None


_ROW: Final = TypeAdapter(_StoredPage)


class FolderPageCache:
    """Page cache shared by runs and processes. A damaged row, or a body missing from the archive, is a cache miss."""

    def __init__(self, folder: Path, archive: Archive) -> None:
        self._folder = folder
        self._archive = archive

    def get(self, url: str) -> CachedPage | None:
        with self._connect() as database:
            row = database.execute(
                "SELECT content_hash, media_type, charset, fetched_at, etag, last_modified, fresh_until"
                " FROM pages WHERE url = ?",
                (url,),
            ).fetchone()
        if row is None:
            return None
        try:
            stored = _ROW.validate_python(row)
            content = self._archive.load(stored.content_hash)
        except (ValidationError, ArchiveDamaged):
            return None
        page = Page(url, url, content, stored.media_type, stored.charset, stored.fetched_at)
        return CachedPage(page, stored.etag, stored.last_modified, stored.fresh_until)

    def put(self, url: str, cached: CachedPage) -> None:
        page = cached.page
        fresh = cached.fresh_until.isoformat() if cached.fresh_until else None
        content_hash = self._archive.keep(page.content)
        row = (url, content_hash, page.media_type, page.charset, page.fetched_at.isoformat())
        with self._connect() as database:
            database.execute(
                "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, cached.etag, cached.last_modified, fresh),
            )
            database.execute(
                "DELETE FROM pages WHERE url IN (SELECT url FROM pages ORDER BY fetched_at DESC LIMIT -1 OFFSET ?)",
                (_MAX_PAGES,),
            )

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        """Open a connection per call: calls come from many threads, and another process may be writing."""
        try:
            create_folder(self._folder)
            with closing(sqlite3.connect(self._folder / _NAME, timeout=_WAIT_SECONDS)) as database:
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("PRAGMA synchronous = NORMAL")
                database.execute(_SCHEMA)
                with database:
                    yield database
        except (sqlite3.Error, OSError) as error:
            raise StorageError(f"the page cache failed: {error}") from error
