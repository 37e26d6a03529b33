"""Update the index of a folder in one pass: list it, read what has changed, and save it batch by batch.

A batch is first recorded in the store as pending, then added to the postings, then marked as indexed in the store.
After a crash, the next pass completes the pending documents: no file is read twice, no passage is counted twice.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from marchwarden.extraction import ocr
from marchwarden.researchers.files.analysis import passage_terms
from marchwarden.researchers.files.bm25 import TermAnalyzer
from marchwarden.researchers.files.models import (
    Checkpoint,
    Folder,
    FoundFile,
    IndexBatch,
    IndexProgress,
    IndexSettings,
    SkipKind,
    SkippedFile,
)
from marchwarden.researchers.files.noise import described_page
from marchwarden.researchers.files.postings import Postings
from marchwarden.researchers.files.reading import FileReader, ReadFile
from marchwarden.researchers.files.scan import Listing, scan
from marchwarden.researchers.files.store import IndexedDocument, IndexStore
from marchwarden.researchers.files.watch import FolderWatcher

_NONE_READY: Final[Mapping[str, Sequence[str]]] = {}


def index_pending(
    store: IndexStore,
    postings: Postings,
    analyzer: TermAnalyzer,
    checkpoint: Checkpoint,
    ready: Mapping[str, Sequence[str]] = _NONE_READY,
) -> None:
    """Add pending documents to the postings and remove doomed ones, so that both match the store.

    `ready` holds the terms of passages by path, for documents that were just read.
    """
    indexed = []
    for id_, path in store.pending():
        checkpoint()
        # A run that was killed between the two commits has already added the terms.
        is_added = postings.contains(id_)
        passages = terms = 0
        known = ready.get(path)
        for words in passage_terms(store.load(id_), analyzer) if known is None else map(str.split, known):
            passages += 1
            terms += len(words)
            if not is_added:
                postings.add(id_, words)
        indexed.append(IndexedDocument(id_, passages, terms))
    doomed_ids, withdrawn_ids = store.doomed_ids(), store.withdrawn_ids()
    for id_ in (*doomed_ids, *withdrawn_ids):
        postings.remove(id_)
    if indexed or doomed_ids or withdrawn_ids:
        postings.commit()
        indexed += [IndexedDocument(id_, 0, 0) for id_ in withdrawn_ids]
        store.mark_indexed(indexed, doomed_ids)


def list_files(
    folder: Folder, max_bytes: int, exclude: Path, checkpoint: Checkpoint, watcher: FolderWatcher | None = None
) -> Listing:
    """List all files of a folder that an index reads, and watch its folders from now on."""
    watcher = watcher or FolderWatcher()
    stamps: dict[str, str] = {}
    skipped: list[SkippedFile] = []
    for listing in scan(folder, max_bytes=max_bytes, exclude=exclude, before_folder=watcher.add):
        checkpoint()
        stamps.update(listing.stamps)
        skipped.extend(listing.skipped)
    for path in [path for path in stamps if "_sources/" in path]:
        page = next((page for page in described_page(path) if page in stamps), None)
        if page is not None:
            del stamps[path]
            skipped.append(SkippedFile(path, f"the source of {page}", SkipKind.DUPLICATE))
    return Listing(stamps, skipped)


class IndexUpdate:
    """One pass over a folder. `skipped` holds the files that are not recorded in the store."""

    def __init__(
        self,
        folder: Folder,
        store: IndexStore,
        postings: Postings,
        reader: FileReader,
        settings: IndexSettings,
        *,
        exclude: Path,
        watcher: FolderWatcher,
    ) -> None:
        self.skipped: list[SkippedFile] = []
        self._folder = folder
        self._store = store
        self._postings = postings
        self._reader = reader
        self._settings = settings
        self._exclude = exclude
        self._watcher = watcher
        self._batch = IndexBatch()
        self._batch_started = time.monotonic()

    def run(self, checkpoint: Checkpoint, progress: IndexProgress) -> None:
        self._index_pending(checkpoint)
        if ocr.is_installed():
            self._store.read_again(ocr.INSTALL_HINT)
        max_bytes = self._settings.max_file_bytes
        listed = list_files(self._folder, max_bytes, self._exclude, checkpoint, self._watcher)
        self.skipped.extend(listed.skipped)
        stamps = listed.stamps
        known = self._store.stamps()
        changed = [FoundFile(path, stamp) for path, stamp in stamps.items() if not stamp or known.get(path) != stamp]
        changed.sort(key=lambda found: found.path)
        self._batch.obsolete.extend(known.keys() - stamps.keys())
        self._read(changed, known, checkpoint, progress)
        if self._store.settle_copies():
            self._index_pending(checkpoint)

    def _read(
        self, changed: Sequence[FoundFile], known: Mapping[str, str], checkpoint: Checkpoint, progress: IndexProgress
    ) -> None:
        hashes = {found.path: self._store.content_hash(found.path) for found in changed if found.path in known}
        if changed:
            progress(0, len(changed))
        for done, each in enumerate(self._reader.read_all(changed, hashes), 1):
            progress(done, len(changed))
            checkpoint()
            self._add(each)
            if self._is_full():
                self._flush(checkpoint)
        self._flush(checkpoint)

    def _add(self, read: ReadFile) -> None:
        if read.failure:
            # A failure of the extractor, not of the file: the next pass tries again.
            self.skipped.append(SkippedFile(read.found.path, read.failure))
        if read.is_unchanged:
            self._batch.unchanged.append((read.found.path, read.found.stamp))
            return
        self._batch.obsolete.append(read.found.path)
        self._batch.entries.extend(read.entries)
        self._batch.size += read.size

    def _is_full(self) -> bool:
        limits = self._settings
        return (
            len(self._batch.entries) >= limits.batch_files
            or self._batch.size >= limits.batch_bytes
            or (bool(self._batch.entries) and time.monotonic() - self._batch_started >= limits.batch_seconds)
        )

    def _flush(self, checkpoint: Checkpoint) -> None:
        batch, self._batch = self._batch, IndexBatch()
        if batch:
            self._store.record(batch)
            ready = {each.path: each.passages for each in batch.entries if each.passages is not None}
            del batch  # The documents in it are large.
            self._index_pending(checkpoint, ready)
        self._batch_started = time.monotonic()

    def _index_pending(self, checkpoint: Checkpoint, ready: Mapping[str, Sequence[str]] = _NONE_READY) -> None:
        index_pending(self._store, self._postings, self._reader.analyzer, checkpoint, ready)
