"""Update: one pass over a folder that brings its index in step, batch by batch.

Every batch is recorded in the store before its words go into the postings, and settled in the store after. Killed at
any moment, the next pass finds what is unsettled and settles it: nothing is read twice, nothing is counted twice.
"""

import time
from collections.abc import Callable
from pathlib import Path

from marchwarden.core.digest import digest
from marchwarden.core.passages import split
from marchwarden.errors import SourceError
from marchwarden.extraction import Extractor, Unreadable
from marchwarden.researchers.files.bm25 import Words
from marchwarden.researchers.files.models import (
    Batch,
    Checkpoint,
    Entry,
    Folder,
    FoundFile,
    IndexSettings,
    Known,
    Skipped,
)
from marchwarden.researchers.files.postings import Postings
from marchwarden.researchers.files.scan import read, scan
from marchwarden.researchers.files.store import Pending, Settled, Store


def settle(store: Store, postings: Postings, words: Words, checkpoint: Checkpoint) -> None:
    """Make the postings hold exactly what the store says, each passage once."""
    settled = []
    for document in store.pending():
        checkpoint()
        passages = _passages(document, words)
        # A run killed between the two commits left the words there already.
        if not postings.holds(document.id):
            postings.add(document.id, passages)
        settled.append(Settled(document.id, len(passages), sum(map(len, passages))))
    doomed = store.doomed()
    for id_ in doomed:
        postings.forget(id_)
    if settled or doomed:
        postings.commit()
        store.settle(settled, doomed)


def _passages(document: Pending, words: Words) -> list[list[str]]:
    """The words of each passage, with those of its heading and its document's title."""
    return [
        words.of(f"{document.text[passage.start : passage.end]}\n{passage.heading}\n{document.title}")
        for passage in split(document.text, document.layout)
    ]


class Update:
    """One pass. `left_out` is what the scan itself refused."""

    def __init__(
        self, folder: Folder, store: Store, extractor: Extractor, settings: IndexSettings, *, leave_out: Path
    ) -> None:
        self.left_out: list[Skipped] = []
        self._folder = folder
        self._store = store
        self._extractor = extractor
        self._settings = settings
        self._leave_out = leave_out
        self._batch = Batch()
        self._begun = time.monotonic()

    def run(self, checkpoint: Checkpoint, settled: Callable[[], None]) -> None:
        known = self._store.known()
        met = set()
        for found in scan(self._folder, largest=self._settings.largest_file, leave_out=self._leave_out):
            checkpoint()
            if isinstance(found, Skipped):
                self.left_out.append(found)
                continue
            met.add(found.path)
            before = known.get(found.path)
            if before is None or not found.stamp or before.stamp != found.stamp:
                self._take(found, before)
            if self._is_full():
                self._flush(settled)
        self._batch.obsolete.extend(known[path].id for path in known.keys() - met)
        self._flush(settled)

    def _take(self, found: FoundFile, before: Known | None) -> None:
        """Put what a file has become into the batch."""
        try:
            content = read(self._folder, found.path, self._settings.largest_file)
        except Unreadable as error:
            self._replace(before, Entry(found.path, found.stamp, "", skipped=error.detail))
            return
        hash_ = digest(content)
        if before is not None and before.content_hash == hash_:
            self._batch.unchanged.append((before.id, found.stamp))
            return
        self._batch.size += len(content)
        self._replace(before, self._entry(found, hash_, content))

    def _entry(self, found: FoundFile, hash_: str, content: bytes) -> Entry | None:
        try:
            extracted = self._extractor.extract(content, found.path)
        except Unreadable as error:
            return Entry(found.path, found.stamp, hash_, skipped=error.detail)
        except SourceError as error:
            # Not the file's fault: left out now, tried again by the next pass.
            self.left_out.append(Skipped(found.path, error.detail))
            return None
        return Entry(found.path, found.stamp, hash_, extracted)

    def _replace(self, before: Known | None, entry: Entry | None) -> None:
        if before is not None:
            self._batch.obsolete.append(before.id)
        if entry is not None:
            self._batch.entries.append(entry)

    def _is_full(self) -> bool:
        limits = self._settings
        return (
            len(self._batch.entries) >= limits.batch_files
            or self._batch.size >= limits.batch_bytes
            or (bool(self._batch.entries) and time.monotonic() - self._begun >= limits.batch_seconds)
        )

    def _flush(self, settled: Callable[[], None]) -> None:
        batch, self._batch = self._batch, Batch()
        if batch:
            self._store.record(batch)
            settled()
        self._begun = time.monotonic()
