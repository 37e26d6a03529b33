"""FilesSource: search and fetch documents in local folders. Does not know the mind, the budget or the trace."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import anyio
from anyio import from_thread, to_thread

from marchwarden.contract import GapCategory
from marchwarden.core.digest import digest
from marchwarden.core.notebook import Document, Hit, Query
from marchwarden.errors import InvalidInput, SourceError, StorageError
from marchwarden.extraction import Extracted, Extractor
from marchwarden.protocols import StatusCallback
from marchwarden.researchers.files.bm25 import Bm25Scorer, merge_statistics
from marchwarden.researchers.files.index import FolderIndex
from marchwarden.researchers.files.models import Checkpoint, Folder, IndexDamaged, IndexSettings, Match
from marchwarden.researchers.files.scan import is_inside, read
from marchwarden.researchers.files.spec import READABLE
from marchwarden.text.sanitize import one_line, pluralize

MAX_HITS: Final = 30
RESCAN_SECONDS: Final = 2.0
"""Pause between two scans of a folder that is scanned quickly."""
QUICK_SCAN_SECONDS: Final = 0.1
"""Scans up to this long count as quick. After longer ones, the pause grows in proportion."""
MAX_RESCAN_FACTOR: Final = 30.0
"""Upper limit for that growth."""
PROGRESS_SECONDS: Final = 1.0
_MAX_NAMES_SHOWN: Final = 3
_DEFAULTS: Final = IndexSettings()


class FilesSource:
    """Folders or single files, searched with a persistent index that is updated before a search."""

    def __init__(
        self,
        folders: Sequence[str | Path | Folder],
        *,
        index_dir: Path,
        settings: IndexSettings = _DEFAULTS,
        rescan_seconds: float = RESCAN_SECONDS,
        extractor: Extractor | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not folders:
            raise InvalidInput("no folder to search: give at least one")
        given = [folder if isinstance(folder, Folder) else Folder.at(folder) for folder in folders]
        unique = {folder.absolute: folder for folder in given}
        self._extractor = extractor or Extractor()
        self._settings = settings
        directory = index_dir.absolute()
        self._indexes = [FolderIndex(folder, directory, self._extractor, settings) for folder in unique.values()]
        self._rescan_seconds = rescan_seconds
        self._clock = clock
        self._sync_lock = anyio.Lock()
        self._next_scan: float | None = None
        self._notices: Sequence[str] = ()

    @property
    def name(self) -> str:
        return "file"

    @property
    def settings(self) -> Mapping[str, object]:
        return {"folders": [asdict(index.folder.record) for index in self._indexes]}

    async def ready(self, report: StatusCallback) -> None:
        """Update the index, which takes a while the first time. Raises `InvalidInput` if no document is readable."""
        await self._sync(report)
        if not any(index.has_words for index in self._indexes):
            raise InvalidInput(await to_thread.run_sync(self._describe_nothing_readable))

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
        """Return the skipped files, one line per reason, as of the last scan.

        Does not access the index: a thread that holds it may be waiting for the event loop.
        """
        return self._notices

    def warnings(self) -> Sequence[str]:
        """Return problems with the index that did not affect what it finds."""
        return [*dict.fromkeys(one_line(each) for index in self._indexes for each in index.warnings())]

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
                await to_thread.run_sync(self._sync_all, _ProgressReporter(report, self._clock, started).checkpoint)
                ended = self._clock()
                self._next_scan = ended + self._rescan_seconds * rescan_factor(ended - started)

    def _sync_all(self, checkpoint: Checkpoint) -> None:
        try:
            for index in self._indexes:
                index.sync(checkpoint)
        except (StorageError, OSError) as error:
            raise SourceError(f"the files cannot be indexed: {error}") from error
        finally:
            self._extractor.close()
            self._notices = self._collect_notices()

    def _collect_notices(self) -> Sequence[str]:
        reasons: dict[str, list[str]] = defaultdict(list)
        problems: dict[str, None] = {}
        for index in self._indexes:
            try:
                for skipped in index.skipped():
                    reasons[skipped.reason].append(index.folder.locator(skipped.path))
            except IndexDamaged as error:
                problems[str(error)] = None
        return [*(_notice(reason, names) for reason, names in sorted(reasons.items())), *map(one_line, problems)]

    def _describe_nothing_readable(self) -> str:
        places = ", ".join(one_line(index.folder.given) for index in self._indexes)
        without_text = sum(index.document_count for index in self._indexes)
        found = [*self._notices, *([f"{pluralize(without_text, 'file')} without words"] if without_text else [])]
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
        if not is_inside(index.folder, relative):
            raise SourceError(f"{one_line(locator)}: is a symbolic link or inside one")
        try:
            content = read(index.folder, relative, self._settings.max_file_bytes)
            extracted = self._extract(index, relative, content)
        except SourceError as error:
            raise SourceError(f"{one_line(locator)}: {error.detail}", error.category) from error
        return extracted.to_document(self.name, locator, content)

    def _extract(self, index: FolderIndex, relative: str, content: bytes) -> Extracted:
        try:
            stored = index.find_text(relative, digest(content))
        except IndexDamaged:
            stored = None
        if stored is not None:
            return stored
        try:
            return self._extractor.extract(content, relative)
        finally:
            self._extractor.close()


def rescan_factor(scan_seconds: float) -> float:
    """Return the factor of the pause after a scan that took this long."""
    return min(max(scan_seconds / QUICK_SCAN_SECONDS, 1.0), MAX_RESCAN_FACTOR)


async def _ignore_progress(_message: str) -> None:
    """Discard the progress of a sync during a search."""


@dataclass
class _ProgressReporter:
    """Reports the progress of a sync about once a second. Every checkpoint allows cancellation."""

    report: StatusCallback
    clock: Callable[[], float]
    last: float
    steps: int = 0

    def checkpoint(self) -> None:
        from_thread.check_cancelled()
        self.steps += 1
        if self.clock() - self.last >= PROGRESS_SECONDS:
            self.last = self.clock()
            from_thread.run(self.report, f"indexing, {self.steps:,} steps done")


def _notice(reason: str, names: list[str]) -> str:
    shown = ", ".join(one_line(name) for name in sorted(names)[:_MAX_NAMES_SHOWN])
    more = ", ..." if len(names) > _MAX_NAMES_SHOWN else ""
    return f"{pluralize(len(names), 'file')} skipped: {one_line(reason)} ({shown}{more})"
