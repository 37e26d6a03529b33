"""Update the index of a folder in one pass, batch by batch.

A batch is first recorded in the store as pending, then added to the postings, then marked as indexed in the store.
After a crash, the next pass completes the pending documents: no file is read twice, no passage is counted twice.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from marchwarden.core.digest import digest
from marchwarden.core.passages import iter_passages
from marchwarden.errors import SourceError
from marchwarden.extraction import Extractor, Unreadable
from marchwarden.researchers.files.bm25 import TermAnalyzer
from marchwarden.researchers.files.models import (
    Checkpoint,
    Folder,
    FoundFile,
    IndexBatch,
    IndexedFile,
    IndexEntry,
    IndexSettings,
    SkippedFile,
)
from marchwarden.researchers.files.postings import Postings
from marchwarden.researchers.files.scan import read, scan
from marchwarden.researchers.files.store import IndexedDocument, IndexStore, PendingDocument
from marchwarden.text.languages.detect import detect


def index_pending(store: IndexStore, postings: Postings, analyzer: TermAnalyzer, checkpoint: Checkpoint) -> None:
    """Add pending documents to the postings and remove doomed ones, so that both match the store."""
    indexed = []
    for document in store.pending():
        checkpoint()
        # A run that was killed between the two commits has already added the terms.
        is_added = postings.contains(document.id)
        passages = terms = 0
        for words in _passages(document, analyzer):
            passages += 1
            terms += len(words)
            if not is_added:
                postings.add(document.id, words)
        indexed.append(IndexedDocument(document.id, passages, terms))
    doomed_ids = store.doomed_ids()
    for id_ in doomed_ids:
        postings.remove(id_)
    if indexed or doomed_ids:
        postings.commit()
        store.mark_indexed(indexed, doomed_ids)


def _passages(document: PendingDocument, analyzer: TermAnalyzer) -> Iterator[list[str]]:
    """Yield the terms of each passage, including its section path and the title of its document."""
    language = detect(document.text)
    for passage in iter_passages(document.text, document.layout, document.blocks):
        text = document.text[passage.start : passage.end]
        yield analyzer.analyze("\n".join((text, *passage.path, document.title)), language)


class IndexUpdate:
    """One pass over a folder. `skipped` holds the files that are not recorded in the store."""

    def __init__(
        self, folder: Folder, store: IndexStore, extractor: Extractor, settings: IndexSettings, *, exclude: Path
    ) -> None:
        self.skipped: list[SkippedFile] = []
        self._folder = folder
        self._store = store
        self._extractor = extractor
        self._settings = settings
        self._exclude = exclude
        self._batch = IndexBatch()
        self._batch_started = time.monotonic()

    def run(self, checkpoint: Checkpoint, flush: Callable[[], None]) -> None:
        known = self._store.known_files()
        seen = set()
        for found in scan(self._folder, max_bytes=self._settings.max_file_bytes, exclude=self._exclude):
            checkpoint()
            if isinstance(found, SkippedFile):
                self.skipped.append(found)
                continue
            seen.add(found.path)
            previous = known.get(found.path)
            if previous is None or not found.stamp or previous.stamp != found.stamp:
                self._add_file(found, previous)
            if self._is_full():
                self._flush(flush)
        self._batch.obsolete.extend(known[path].id for path in known.keys() - seen)
        self._flush(flush)

    def _add_file(self, found: FoundFile, previous: IndexedFile | None) -> None:
        """Read a new or changed file and add it to the batch."""
        try:
            content = read(self._folder, found.path, self._settings.max_file_bytes)
        except Unreadable as error:
            self._replace(previous, IndexEntry(found.path, found.stamp, "", skipped=error.detail))
            return
        content_hash = digest(content)
        if previous is not None and previous.content_hash == content_hash:
            self._batch.unchanged.append((previous.id, found.stamp))
            return
        self._batch.size += len(content)
        self._replace(previous, self._extract_entry(found, content_hash, content))

    def _extract_entry(self, found: FoundFile, content_hash: str, content: bytes) -> IndexEntry | None:
        try:
            extracted = self._extractor.extract(content, found.path)
        except Unreadable as error:
            return IndexEntry(found.path, found.stamp, content_hash, skipped=error.detail)
        except SourceError as error:
            # A failure of the extractor, not of the file: the next pass tries again.
            self.skipped.append(SkippedFile(found.path, error.detail))
            return None
        return IndexEntry(found.path, found.stamp, content_hash, extracted)

    def _replace(self, previous: IndexedFile | None, entry: IndexEntry | None) -> None:
        if previous is not None:
            self._batch.obsolete.append(previous.id)
        if entry is not None:
            self._batch.entries.append(entry)

    def _is_full(self) -> bool:
        limits = self._settings
        return (
            len(self._batch.entries) >= limits.batch_files
            or self._batch.size >= limits.batch_bytes
            or (bool(self._batch.entries) and time.monotonic() - self._batch_started >= limits.batch_seconds)
        )

    def _flush(self, flush: Callable[[], None]) -> None:
        batch, self._batch = self._batch, IndexBatch()
        if batch:
            self._store.record(batch)
            del batch  # The documents in it are large, and `flush` reads them from the store one by one.
            flush()
        self._batch_started = time.monotonic()
