"""FolderIndex: the searchable memory of one folder, kept in step with it.

Persistent, incremental, and only a cache: whatever goes wrong with it, it can be thrown away and built again.
"""

import fcntl
import hashlib
import os
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from marchwarden.errors import StorageError
from marchwarden.extraction import Extracted, Extractor
from marchwarden.researchers.files.bm25 import Scorer, Statistics, Words
from marchwarden.researchers.files.models import Checkpoint, Folder, IndexDamaged, IndexSettings, Match, Skipped
from marchwarden.researchers.files.postings import Postings
from marchwarden.researchers.files.store import Store
from marchwarden.researchers.files.update import Update, settle

INDEX_VERSION: Final = 6
"""Raised whenever extraction, passages, words or tables change: what an earlier version built is deleted unread."""
_PAUSE_SECONDS: Final = 0.05


class FolderIndex:
    """May be used from any thread; calls wait for their turn. Several processes may share the directory."""

    def __init__(self, folder: Folder, directory: Path, extractor: Extractor, settings: IndexSettings) -> None:
        self.folder = folder
        self._directory = directory
        self._home = directory / hashlib.sha256(folder.absolute.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._data = self._of_version(INDEX_VERSION)
        self._extractor = extractor
        self._settings = settings
        self._words = Words()
        self._turn = threading.RLock()
        self._store: Store | None = None
        self._postings: Postings | None = None
        self._word_count = 0
        self._is_damaged = False
        self._left_out: list[Skipped] = []
        self._remarks: list[str] = []
        self._was_damaged = False

    def sync(self, checkpoint: Checkpoint) -> None:
        """Bring the index up to date. `checkpoint` is called between files and may raise to stop; the rest is kept."""
        with self._turn:
            self._remarks = []
            try:
                self._home.mkdir(parents=True, exist_ok=True)
                with locked(self._home / "lock", self._settings.lock_seconds, checkpoint) as mine:
                    if mine:
                        self._sync_alone(checkpoint)
                    else:
                        self._look()
            except (StorageError, OSError) as error:
                self._remarks.append(f"the index could not be brought up to date ({error}); searched as it stands")

    def asked(self, query: str) -> list[str]:
        """The terms of a query."""
        with self._turn:
            return self._words.asked(query)

    def statistics(self, terms: Sequence[str]) -> Statistics:
        with self._reading():
            if self._postings is None:
                return Statistics(0, 0, {})
            return self._postings.statistics(terms, self._word_count)

    def matches(self, terms: Sequence[str], scorer: Scorer, own: Statistics) -> list[Match]:
        """The documents with the best passages, in no order."""
        with self._reading():
            if self._store is None or self._postings is None:
                return []
            best: dict[int, float] = {}
            for passage in self._postings.best(terms, scorer, own):
                best[passage.document] = max(passage.score, best.get(passage.document, 0.0))
            described = self._store.described(list(best))
            return [Match(at.path, at.title, at.published, best[id_]) for id_, at in described.items()]

    def stored(self, relative: str, content_hash: str) -> Extracted | None:
        """The text kept for a path, if it was made from bytes of this hash."""
        with self._reading():
            stored = self._store.stored(relative) if self._store else None
            return stored.extracted if stored and stored.content_hash == content_hash else None

    def left_out(self) -> list[Skipped]:
        with self._reading():
            return [*self._left_out, *(self._store.skipped() if self._store else ())]

    def remarks(self) -> list[str]:
        with self._turn:
            damaged = ["the index was damaged and has been built again"] if self._was_damaged else []
            return [*damaged, *self._remarks]

    def close(self) -> None:
        with self._turn:
            store, self._store, self._postings = self._store, None, None
            if store is not None:
                store.close()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._turn:
            try:
                yield
            except IndexDamaged:
                self._is_damaged = True
                raise

    def _sync_alone(self, checkpoint: Checkpoint) -> None:
        if not self._is_damaged:
            try:
                self._update(checkpoint)
            except IndexDamaged:
                self._is_damaged = True
        if self._is_damaged:
            self.close()
            shutil.rmtree(self._data)
            self._is_damaged, self._was_damaged = False, True
            self._update(checkpoint)
        for earlier in range(1, INDEX_VERSION):
            shutil.rmtree(self._of_version(earlier), ignore_errors=True)

    def _of_version(self, number: int) -> Path:
        return self._home / f"v{number}"

    def _update(self, checkpoint: Checkpoint) -> None:
        store, postings = self._open()

        def settled() -> None:
            settle(store, postings, self._words, checkpoint)

        update = Update(self.folder, store, self._extractor, self._settings, leave_out=self._directory)
        try:
            settled()
            update.run(checkpoint, settled)
        finally:
            self._left_out = update.left_out
            postings.release()
            self._word_count = store.words()

    def _look(self) -> None:
        """Another process is writing: see what it has committed so far."""
        self._remarks.append("another process is updating the index; searched as it stands")
        if (self._data / "documents.sqlite").exists() and (self._data / "postings" / "meta.json").exists():
            store, postings = self._open()
            postings.reload()
            self._word_count = store.words()

    def _open(self) -> tuple[Store, Postings]:
        if self._store is None or self._postings is None:
            self._data.mkdir(parents=True, exist_ok=True)
            self._store = Store(self._data / "documents.sqlite")
            self._postings = Postings(self._data / "postings")
        return self._store, self._postings


@contextmanager
def locked(path: Path, seconds: float, checkpoint: Checkpoint) -> Iterator[bool]:
    """Hold the lock, or say False when another process still held it after so many seconds."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield _acquired(descriptor, time.monotonic() + seconds, checkpoint)
    finally:
        os.close(descriptor)


def _acquired(descriptor: int, deadline: float, checkpoint: Checkpoint) -> bool:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            checkpoint()
            time.sleep(_PAUSE_SECONDS)
        else:
            return True
