"""Read changed files, several at a time: content, text, and the terms of the passages. Does not know the store."""

import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from marchwarden.core.digest import digest
from marchwarden.errors import SourceError
from marchwarden.extraction import Extracted, Extractor, Unreadable
from marchwarden.researchers.files.analysis import passage_terms, text_key
from marchwarden.researchers.files.bm25 import TermAnalyzer
from marchwarden.researchers.files.members import Part, read_parts
from marchwarden.researchers.files.models import Folder, FoundFile, IndexEntry
from marchwarden.researchers.files.scan import read

_AHEAD: Final = 2
"""Files per thread that are read before the first of them is needed."""

MAX_LENGTH_AHEAD: Final = 500_000


@dataclass(frozen=True)
class ReadFile:
    """What reading a file led to: entries for the index, no change, or the failure to read it now."""

    found: FoundFile
    entries: Sequence[IndexEntry] = ()
    is_unchanged: bool = False
    failure: str = ""
    size: int = 0


class FileReader:
    """Reads files of one folder with several threads. Results keep the order of the files."""

    def __init__(self, folder: Folder, extractor: Extractor, max_bytes: int, threads: int) -> None:
        self._analyzers = threading.local()
        self._folder = folder
        self._extractor = extractor
        self._max_bytes = max_bytes
        self._threads = threads

    @property
    def analyzer(self) -> TermAnalyzer:
        """The analyzer of this thread."""
        found: TermAnalyzer | None = getattr(self._analyzers, "own", None)
        if found is None:
            found = self._analyzers.own = TermAnalyzer()
        return found

    def read_all(self, files: Sequence[FoundFile], hashes: Mapping[str, str]) -> Iterator[ReadFile]:
        """Yield every file. `hashes` are those of the contents in the index, by path."""
        pending: deque[Future[ReadFile]] = deque()
        waiting = iter(files)
        pool = ThreadPoolExecutor(self._threads, "read-files")
        try:
            for found in waiting:
                pending.append(pool.submit(self._read, found, hashes.get(found.path)))
                if len(pending) >= self._threads * _AHEAD:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _read(self, found: FoundFile, known_hash: str | None) -> ReadFile:
        try:
            content = read(self._folder, found.path, self._max_bytes)
        except Unreadable as error:
            return ReadFile(found, [IndexEntry(found.path, found.stamp, "", skipped=error.detail)])
        if digest(content) == known_hash:
            return ReadFile(found, is_unchanged=True)
        try:
            parts = [*read_parts(self._extractor, content, found.path)]
        except SourceError as error:
            return ReadFile(found, failure=error.detail)
        entries = [self._entry(found, part) for part in parts]
        return ReadFile(found, entries, size=len(content) + sum(_text_size(each) for each in parts))

    def _entry(self, found: FoundFile, part: Part) -> IndexEntry:
        is_member = part.path != found.path
        extracted = part.extracted
        return IndexEntry(
            path=part.path,
            stamp="" if is_member else found.stamp,
            content_hash=part.content_hash,
            extracted=extracted,
            skipped=part.skipped,
            kind=part.kind,
            container=found.path if is_member else "",
            text_key=text_key(extracted) if extracted else "",
            passages=self._passages(extracted) if extracted else None,
        )

    def _passages(self, extracted: Extracted) -> Sequence[str] | None:
        """Return the terms of every passage, or None for a long text, whose passages are better made one by one."""
        if len(extracted.text) > MAX_LENGTH_AHEAD:
            return None
        return [" ".join(words) for words in passage_terms(extracted, self.analyzer)]


def _text_size(part: Part) -> int:
    return len(part.extracted.text) if part.extracted else 0
