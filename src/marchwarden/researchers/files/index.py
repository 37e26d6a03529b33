"""FolderIndex: a persistent search index of one folder, updated incrementally.

The index is only a cache. A damaged index is deleted and rebuilt. One that cannot be written is kept in memory instead,
so that the answer does not depend on the disk.
"""

import fcntl
import hashlib
import json
import os
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from marchwarden.core.paths import create_folder
from marchwarden.errors import StorageError
from marchwarden.extraction import Extracted, Extractor
from marchwarden.researchers.files.bm25 import Bm25Scorer, Statistics
from marchwarden.researchers.files.models import (
    Checkpoint,
    Folder,
    IndexDamaged,
    IndexProgress,
    IndexSettings,
    Match,
    SkipKind,
    SkippedFile,
    ignore_progress,
)
from marchwarden.researchers.files.postings import Postings
from marchwarden.researchers.files.reading import FileReader
from marchwarden.researchers.files.store import IndexStore
from marchwarden.researchers.files.update import IndexUpdate
from marchwarden.researchers.files.watch import FolderWatcher
from marchwarden.text.languages import Language
from marchwarden.text.sanitize import one_line

INDEX_VERSION: Final = 13
"""Increase when extraction, passages, terms or tables change. Indexes of earlier versions are deleted unread."""
_DOCUMENTS: Final = "documents.sqlite"
_LOCK_RETRY_SECONDS: Final = 0.05
_MAX_PLACE_LENGTH: Final = 150


@dataclass(frozen=True)
class IndexDescription:
    """What an index is of, as saved next to it."""

    path: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class FolderIndex:
    """Thread-safe: calls are serialized. Several processes may share the directory."""

    def __init__(self, folder: Folder, directory: Path, extractor: Extractor, settings: IndexSettings) -> None:
        self.folder = folder
        self._directory = directory
        self._root = directory / hashlib.sha256(folder.key.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._data = self._version_folder(INDEX_VERSION)
        self._settings = settings
        self._reader = FileReader(folder, extractor, settings.max_file_bytes, settings.threads)
        self._lock = threading.RLock()
        self._watcher = FolderWatcher()
        self._store: IndexStore | None = None
        self._postings: Postings | None = None
        self._word_count = 0
        self._is_damaged = False
        self._in_memory = False
        self.was_in_memory = False
        """Whether the last update could not be saved."""
        self._skipped: list[SkippedFile] = []
        self._warnings: list[str] = []

    @staticmethod
    def database(root: Path) -> Path:
        """Return the database of the index in a folder, in the current version."""
        return root / f"v{INDEX_VERSION}" / _DOCUMENTS

    def sync(self, checkpoint: Checkpoint, progress: IndexProgress = ignore_progress) -> None:
        """Update the index. `checkpoint` is called between files and may raise to stop; finished batches are kept.

        Once the index is in memory, it stays there until `close`.
        """
        with self._lock:
            if self._is_current():
                return
            if not self._in_memory:
                try:
                    self._sync_on_disk(checkpoint, progress)
                except OSError as error:
                    self._move_to_memory(error.strerror or type(error).__name__)
                except StorageError as error:
                    self._move_to_memory(str(error))
            if self._in_memory:
                self._sync_alone(checkpoint, progress)

    def _is_current(self) -> bool:
        """Whether nothing has changed since the last complete update, as far as notifications tell."""
        return self._store is not None and not self._is_damaged and self._watcher.is_unchanged()

    def query_terms(self, query: str, indexed: Iterable[Language]) -> list[str]:
        """Return the terms of a query for indexes with documents in these languages."""
        with self._lock:
            return self._reader.analyzer.query_terms(query, indexed)

    def languages(self) -> list[Language]:
        """Return the languages of the documents, except English."""
        with self._reading():
            return self._postings.languages() if self._postings else []

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

    def skip_counts(self) -> Counter[SkipKind]:
        """Return how many files were skipped in the last update, by kind."""
        with self._reading():
            counts = Counter(each.kind for each in self._skipped)
            return counts + self._store.skip_counts() if self._store else counts

    def skipped(self, kinds: Collection[SkipKind] = tuple(SkipKind)) -> list[SkippedFile]:
        """Return the files of these kinds that were skipped in the last update."""
        with self._reading():
            listed = [each for each in self._skipped if each.kind in kinds]
            return [*listed, *(self._store.skipped(kinds) if self._store else ())]

    @property
    def document_count(self) -> int:
        """The number of documents that could be read."""
        with self._reading():
            return self._store.document_count() if self._store else 0

    @property
    def has_words(self) -> bool:
        """Whether there is anything to search."""
        return self._word_count > 0

    def warnings(self) -> list[str]:
        """Return problems with the index that did not affect what it finds."""
        return [*self._warnings]

    def close(self) -> None:
        with self._lock:
            self._release()
            self._watcher.close()
            self._in_memory = False

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except IndexDamaged:
                self._is_damaged = True
                raise

    def _sync_on_disk(self, checkpoint: Checkpoint, progress: IndexProgress) -> None:
        create_folder(self._root)
        self._save_description()
        with lock_file(self._root / "lock", self._settings.lock_seconds, checkpoint, self._last_change) as acquired:
            if not acquired:
                raise StorageError("another process has locked it")
            self._sync_alone(checkpoint, progress)
            for earlier in range(1, INDEX_VERSION):
                shutil.rmtree(self._version_folder(earlier), ignore_errors=True)

    def _save_description(self) -> None:
        folder, path = self.folder, self._root / "folder.json"
        if not path.exists():
            described = IndexDescription(folder.absolute, folder.include, folder.exclude)
            # A folder name that is not UTF-8 is saved with escapes.
            path.write_text(json.dumps(asdict(described)), encoding="ascii")

    def _sync_alone(self, checkpoint: Checkpoint, progress: IndexProgress) -> None:
        if not self._is_damaged:
            try:
                self._update(checkpoint, progress)
            except IndexDamaged:
                self._is_damaged = True
        if self._is_damaged:
            self._release()
            if self._data.exists() and not self._in_memory:
                shutil.rmtree(self._data)
                self._warn("the index was damaged and has been rebuilt")
            self._is_damaged = False
            self._update(checkpoint, progress)

    def _move_to_memory(self, reason: str) -> None:
        """Continue with a copy of the saved documents, if they are readable, so that they are not extracted again."""
        place = one_line(str(self._directory), _MAX_PLACE_LENGTH)
        self._warn(f"the index in {place} cannot be updated ({reason}); it is kept in memory instead")
        copied = None if self._is_damaged else self._copy_saved_documents()
        self._release()
        self._in_memory, self._is_damaged = True, False
        self.was_in_memory = True
        if copied is not None:
            self._store, self._postings = copied, Postings()

    def _copy_saved_documents(self) -> IndexStore | None:
        try:
            saved = self._store or IndexStore(self._data / _DOCUMENTS, read_only=True)
            with closing(saved):
                return saved.copy_to_memory()
        except (StorageError, OSError):
            return None

    def _warn(self, warning: str) -> None:
        if warning not in self._warnings:
            self._warnings.append(warning)

    def _release(self) -> None:
        store, self._store, self._postings = self._store, None, None
        if store is not None:
            store.close()

    def _last_change(self) -> int:
        """Return when another process last saved documents. While it does, waiting costs less than extracting them."""
        try:
            return (self._data / f"{_DOCUMENTS}-wal").stat().st_mtime_ns
        except OSError:
            return 0

    def _version_folder(self, number: int) -> Path:
        return self._root / f"v{number}"

    def _update(self, checkpoint: Checkpoint, progress: IndexProgress) -> None:
        store, postings = self._open()
        self._watcher.begin()
        update = IndexUpdate(
            self.folder, store, postings, self._reader, self._settings, exclude=self._directory, watcher=self._watcher
        )
        try:
            update.run(checkpoint, progress)
        except BaseException:
            # The update is incomplete, whether or not files change.
            self._watcher.close()
            raise
        finally:
            self._skipped = update.skipped
            postings.release()
            self._word_count = store.word_count()

    def _open(self) -> tuple[IndexStore, Postings]:
        if self._store is None or self._postings is None:
            if self._in_memory:
                self._store, self._postings = IndexStore(), Postings()
            else:
                create_folder(self._data)
                self._store = IndexStore(self._data / _DOCUMENTS)
                self._postings = Postings(self._data / "postings")
        return self._store, self._postings


@contextmanager
def lock_file(
    path: Path, seconds: float, checkpoint: Checkpoint, last_change: Callable[[], int] = lambda: 0
) -> Iterator[bool]:
    """Hold a lock that one process at a time can have.

    Yield False if it is not free within `seconds` after the last change made by the process that has it. The operating
    system releases the lock when the process ends, even by a crash.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield _acquire(descriptor, seconds, checkpoint, last_change)
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, seconds: float, checkpoint: Checkpoint, last_change: Callable[[], int]) -> bool:
    deadline, known_change = time.monotonic() + seconds, last_change()
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if (change := last_change()) != known_change:
                deadline, known_change = time.monotonic() + seconds, change
            if time.monotonic() >= deadline:
                return False
            checkpoint()
            time.sleep(_LOCK_RETRY_SECONDS)
        else:
            return True
