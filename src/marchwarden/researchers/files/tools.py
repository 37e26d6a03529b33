"""FilesSource: search and fetch documents in local folders. Does not know the mind, the budget or the trace."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

import anyio
from anyio import to_thread

from marchwarden.contract import GapCategory
from marchwarden.core.digest import digest
from marchwarden.core.notebook import Document, Hit, Query
from marchwarden.errors import InvalidInput, SourceError, StorageError
from marchwarden.extraction import Extracted, Extractor
from marchwarden.protocols import LeftOut, StatusCallback
from marchwarden.researchers.files.bm25 import Bm25Scorer, merge_statistics
from marchwarden.researchers.files.index import FolderIndex
from marchwarden.researchers.files.members import read_member
from marchwarden.researchers.files.models import Folder, IndexDamaged, IndexSettings, Match, SkipKind
from marchwarden.researchers.files.progress import ProgressReporter
from marchwarden.researchers.files.scan import find_container, is_inside, read
from marchwarden.researchers.files.skipped import PROBLEMS, list_by_reason, summarize, warn_of
from marchwarden.researchers.files.spec import READABLE
from marchwarden.text.sanitize import one_line, pluralize

MAX_HITS: Final = 30
RESCAN_SECONDS: Final = 2.0
"""Pause between two scans of a folder that is scanned quickly."""
QUICK_SCAN_SECONDS: Final = 0.1
"""Scans up to this long count as quick. After longer ones, the pause grows in proportion."""
MAX_RESCAN_FACTOR: Final = 30.0
"""Upper limit for that growth."""
_DEFAULTS: Final = IndexSettings()


class FilesSource:
    """Folders or single files, searched with a persistent index that is updated before a search."""

    def __init__(
        self,
        folders: Sequence[str | Path | Folder],
        *,
        index_dir: Path,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        settings: IndexSettings = _DEFAULTS,
        rescan_seconds: float = RESCAN_SECONDS,
        extractor: Extractor | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not folders:
            raise InvalidInput("no folder to search: give at least one")
        given = [folder if isinstance(folder, Folder) else Folder.at(folder) for folder in folders]
        unique = {folder.absolute: folder.filtered(include, exclude) for folder in given}
        self._filters = {"include": [*include], "exclude": [*exclude]}
        self._extractor = extractor or Extractor(workers=settings.threads)
        self._settings = settings
        directory = index_dir.absolute()
        self._indexes = [FolderIndex(folder, directory, self._extractor, settings) for folder in unique.values()]
        self._rescan_seconds = rescan_seconds
        self._clock = clock
        self._sync_lock = anyio.Lock()
        self._next_scan: float | None = None
        self._notices: Sequence[str] = ()
        self._left_out = LeftOut()

    @property
    def name(self) -> str:
        return "file"

    @property
    def settings(self) -> Mapping[str, object]:
        filters = {name: patterns for name, patterns in self._filters.items() if patterns}
        return {"folders": [asdict(index.folder.record) for index in self._indexes], **filters}

    async def ready(self, report: StatusCallback) -> None:
        """Update the index, which takes a while the first time. Raises `InvalidInput` if no document is readable."""
        await self._sync(report)
        if not any(index.has_words for index in self._indexes):
            raise InvalidInput(await to_thread.run_sync(self._describe_nothing_readable))
        if self._left_out.summary:
            await report(self._left_out.summary)

    def guide(self) -> str:
        return ""

    async def search(self, query: Query) -> Sequence[Hit]:
        """Return the documents with the best passages, best first. Ties are ordered by path."""
        await self._sync(_ignore_progress)
        try:
            return await to_thread.run_sync(self._search, query.text)
        except IndexDamaged:
            await self._sync(_ignore_progress, force=True)
        try:
            return await to_thread.run_sync(self._search, query.text)
        except IndexDamaged as error:
            raise SourceError(f"the index is damaged and cannot be rebuilt: {error}") from error

    async def fetch(self, hit: Hit) -> Document:
        """Read a document. If the file has not changed, its text comes from the index."""
        return await to_thread.run_sync(self._fetch, hit)

    def notices(self) -> Sequence[str]:
        """Return problems with the index that affect what it finds.

        Does not access the index: a thread that holds it may be waiting for the event loop.
        """
        return self._notices

    def left_out(self) -> LeftOut:
        """Return what was skipped, as of the last scan."""
        return self._left_out

    def warnings(self) -> Sequence[str]:
        """Return problems with the index that did not affect what it finds, and the files that could not be read."""
        warnings = [one_line(each) for index in self._indexes for each in index.warnings()]
        return [*dict.fromkeys(warnings), *([self._left_out.warning] if self._left_out.warning else [])]

    def close(self) -> None:
        """Release files and processes. They are opened again if the source is used afterwards."""
        self._extractor.close()
        for index in self._indexes:
            index.close()
        self._next_scan = None

    async def _sync(self, report: StatusCallback, *, force: bool = False) -> None:
        async with self._sync_lock:
            started = self._clock()
            if force or self._next_scan is None or started >= self._next_scan:
                await to_thread.run_sync(self._sync_all, ProgressReporter(report, self._clock, started))
                ended = self._clock()
                self._next_scan = ended + self._rescan_seconds * rescan_factor(ended - started)

    def _sync_all(self, reporter: ProgressReporter) -> None:
        try:
            for index in self._indexes:
                index.sync(reporter.checkpoint, reporter.progress)
        except (StorageError, OSError) as error:
            raise SourceError(f"the files cannot be indexed: {error}") from error
        finally:
            self._extractor.close()
            self._collect_skipped()

    def _collect_skipped(self) -> None:
        counts: Counter[SkipKind] = Counter()
        problems: dict[str, None] = {}
        unread: list[tuple[str, str]] = []
        for index in self._indexes:
            try:
                counts += index.skip_counts()
                unread += _locators(index, PROBLEMS)
            except IndexDamaged as error:
                problems[one_line(str(error))] = None
        self._notices = [*problems]
        self._left_out = LeftOut(summarize(counts), tuple(list_by_reason(unread)), warn_of(unread))

    def _describe_nothing_readable(self) -> str:
        places = ", ".join(one_line(index.folder.given) for index in self._indexes)
        without_text = sum(index.document_count for index in self._indexes)
        skipped = list_by_reason([each for index in self._indexes for each in _locators(index, tuple(SkipKind))])
        blank = [f"{pluralize(without_text, 'file')} without words"] if without_text else []
        found = [*self._notices, *skipped, *blank]
        reason = "; ".join(found) or "no files (hidden files are ignored)"
        return f"nothing readable in {places}: {reason}; readable files are {READABLE}"

    def _search(self, text: str) -> Sequence[Hit]:
        indexed = dict.fromkeys(language for index in self._indexes for language in index.languages())
        terms = self._indexes[0].query_terms(text, indexed)
        if not terms:
            return ()
        statistics = [index.statistics(terms) for index in self._indexes]
        scorer = Bm25Scorer(terms, merge_statistics(statistics))
        found: dict[str, Match] = {}
        for index, local_statistics in zip(self._indexes, statistics, strict=True):
            for match in index.find_matches(terms, scorer, local_statistics):
                found.setdefault(index.folder.locator(match.path), match)
        ranked = sorted(found.items(), key=lambda item: (-item[1].score, item[0]))[:MAX_HITS]
        best = ranked[0][1].score if ranked else 1.0
        return tuple(
            Hit(locator, match.title, round(match.score / best, 6), match.published) for locator, match in ranked
        )

    def _fetch(self, hit: Hit) -> Document:
        for index in self._indexes:
            relative = index.folder.relative(hit.locator)
            if relative is not None:
                return self._read(index, relative, hit.locator)
        raise SourceError(f"{one_line(hit.locator)}: not in the given folders", GapCategory.SOURCE_NOT_FOUND)

    def _read(self, index: FolderIndex, relative: str, locator: str) -> Document:
        container = find_container(index.folder, relative)
        if not is_inside(index.folder, container):
            raise SourceError(f"{one_line(locator)}: is a symbolic link or inside one")
        try:
            content = read(index.folder, container, self._settings.max_file_bytes)
            if container != relative:
                content = read_member(self._extractor, content, container, relative)
            extracted = self._extract(index, relative, content)
        except SourceError as error:
            raise SourceError(f"{one_line(locator)}: {error.detail}", error.category) from error
        finally:
            self._extractor.close()
        return extracted.to_document(self.name, locator, content)

    def _extract(self, index: FolderIndex, relative: str, content: bytes) -> Extracted:
        try:
            stored = index.find_text(relative, digest(content))
        except IndexDamaged:
            stored = None
        return stored if stored is not None else self._extractor.extract(content, relative)


def _locators(index: FolderIndex, kinds: Collection[SkipKind]) -> list[tuple[str, str]]:
    """Return the locators of the skipped files of these kinds, with the reasons."""
    return [(index.folder.locator(each.path), each.reason) for each in index.skipped(kinds)]


def rescan_factor(scan_seconds: float) -> float:
    """Return the factor of the pause after a scan that took this long."""
    return min(max(scan_seconds / QUICK_SCAN_SECONDS, 1.0), MAX_RESCAN_FACTOR)


async def _ignore_progress(_message: str) -> None:
    """Discard the progress of a sync during a search."""
