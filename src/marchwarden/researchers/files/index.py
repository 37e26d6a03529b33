"""FolderIndex: a persistent search index of one folder, updated incrementally.

The index is only a cache. A damaged index is deleted and rebuilt.
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
from marchwarden.researchers.files.bm25 import Bm25Scorer, Statistics, TermAnalyzer
from marchwarden.researchers.files.models import Checkpoint, Folder, IndexDamaged, IndexSettings, Match, SkippedFile
from marchwarden.researchers.files.postings import Postings
from marchwarden.researchers.files.store import IndexStore
from marchwarden.researchers.files.update import IndexUpdate, index_pending

INDEX_VERSION: Final = 6
"""Increase when extraction, passages, terms or tables change. Indexes of earlier versions are deleted unread."""
_LOCK_RETRY_SECONDS: Final = 0.05


class FolderIndex:
    """Thread-safe: calls are serialized. Several processes may share the directory."""

    def __init__(self, folder: Folder, directory: Path, extractor: Extractor, settings: IndexSettings) -> None:
        self.folder = folder
        self._directory = directory
        self._root = directory / hashlib.sha256(folder.absolute.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._data = self._version_folder(INDEX_VERSION)
        self._extractor = extractor
        self._settings = settings
        self._analyzer = TermAnalyzer()
        self._lock = threading.RLock()
        self._store: IndexStore | None = None
        self._postings: Postings | None = None
        self._word_count = 0
        self._is_damaged = False
        self._skipped: list[SkippedFile] = []
        self._remarks: list[str] = []
        self._was_damaged = False

    def sync(self, checkpoint: Checkpoint) -> None:
        """Update the index. `checkpoint` is called between files and may raise to stop; finished batches are kept."""
        with self._lock:
            self._remarks = []
            try:
                self._root.mkdir(parents=True, exist_ok=True)
                with lock_file(self._root / "lock", self._settings.lock_seconds, checkpoint) as acquired:
                    if acquired:
                        self._sync_alone(checkpoint)
                    else:
                        self._open_read_only()
            except (StorageError, OSError) as error:
                self._remarks.append(f"the index could not be updated ({error}); searched without the latest changes")

    def query_terms(self, query: str) -> list[str]:
        with self._lock:
            return self._analyzer.query_terms(query)

    def statistics(self, terms: Sequence[str]) -> Statistics:
        with self._reading():
            if self._postings is None:
                return Statistics(0, 0, {})
            return self._postings.statistics(terms, self._word_count)

    def find_matches(self, terms: Sequence[str], scorer: Bm25Scorer, local_statistics: Statistics) -> list[Match]:
        """Return the documents with the best passages, in no particular order."""
        with self._reading():
            if self._store is None or self._postings is None:
                return []
            best: dict[int, float] = {}
            for passage in self._postings.find_best(terms, scorer, local_statistics):
                best[passage.document] = max(passage.score, best.get(passage.document, 0.0))
            summaries = self._store.summaries(list(best))
            return [Match(each.path, each.title, each.published, best[id_]) for id_, each in summaries.items()]

    def find_text(self, relative: str, content_hash: str) -> Extracted | None:
        """Return the stored text of a path if it was extracted from content with this hash."""
        with self._reading():
            stored = self._store.find(relative) if self._store else None
            return stored.extracted if stored and stored.content_hash == content_hash else None

    def skipped(self) -> list[SkippedFile]:
        with self._reading():
            return [*self._skipped, *(self._store.skipped() if self._store else ())]

    def remarks(self) -> list[str]:
        with self._lock:
            damaged = ["the index was damaged and has been rebuilt"] if self._was_damaged else []
            return [*damaged, *self._remarks]

    def close(self) -> None:
        with self._lock:
            store, self._store, self._postings = self._store, None, None
            if store is not None:
                store.close()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._lock:
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
            shutil.rmtree(self._version_folder(earlier), ignore_errors=True)

    def _version_folder(self, number: int) -> Path:
        return self._root / f"v{number}"

    def _update(self, checkpoint: Checkpoint) -> None:
        store, postings = self._open()

        def flush() -> None:
            index_pending(store, postings, self._analyzer, checkpoint)

        update = IndexUpdate(self.folder, store, self._extractor, self._settings, exclude=self._directory)
        try:
            flush()
            update.run(checkpoint, flush)
        finally:
            self._skipped = update.skipped
            postings.release()
            self._word_count = store.word_count()

    def _open_read_only(self) -> None:
        """While another process writes, read what it has committed so far."""
        self._remarks.append("another process is updating the index; searched without the latest changes")
        if (self._data / "documents.sqlite").exists() and (self._data / "postings" / "meta.json").exists():
            store, postings = self._open()
            postings.reload()
            self._word_count = store.word_count()

    def _open(self) -> tuple[IndexStore, Postings]:
        if self._store is None or self._postings is None:
            self._data.mkdir(parents=True, exist_ok=True)
            self._store = IndexStore(self._data / "documents.sqlite")
            self._postings = Postings(self._data / "postings")
        return self._store, self._postings


@contextmanager
def lock_file(path: Path, seconds: float, checkpoint: Checkpoint) -> Iterator[bool]:
    """Hold a lock that one process at a time can have; yield False if it is not free within `seconds`.

    The operating system releases the lock when the process ends, even by a crash.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield _acquire(descriptor, time.monotonic() + seconds, checkpoint)
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, deadline: float, checkpoint: Checkpoint) -> bool:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            checkpoint()
            time.sleep(_LOCK_RETRY_SECONDS)
        else:
            return True
