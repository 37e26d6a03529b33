"""FilesSource: folders of documents as a source of evidence. Knows no mind, budget or trace."""

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
from marchwarden.errors import InvalidInput, SourceError
from marchwarden.extraction import Extracted, Extractor
from marchwarden.protocols import StatusCallback
from marchwarden.researchers.files.bm25 import Scorer, together
from marchwarden.researchers.files.index import FolderIndex
from marchwarden.researchers.files.models import Checkpoint, Folder, IndexDamaged, IndexSettings, Match
from marchwarden.researchers.files.scan import is_beneath, read
from marchwarden.text.plural import pluralize
from marchwarden.text.sanitize import one_line

MOST_HITS: Final = 30
RESCAN_SECONDS: Final = 2.0
QUICK_LOOK: Final = 0.1
MOST_PATIENT: Final = 30.0
"""How many times the usual pause a folder is left alone at most."""
TELL_SECONDS: Final = 1.0
_NAMES_SHOWN: Final = 3
_DEFAULTS: Final = IndexSettings()


class FilesSource:
    """Folders, or single files, searched through a persistent index that is brought up to date before a search."""

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
            raise InvalidInput("no folder to research was given")
        known = [folder if isinstance(folder, Folder) else Folder.at(folder) for folder in folders]
        unique = {folder.absolute: folder for folder in known}
        self._extractor = extractor or Extractor()
        self._settings = settings
        directory = index_dir.absolute()
        self._indexes = [FolderIndex(folder, directory, self._extractor, settings) for folder in unique.values()]
        self._rescan_seconds = rescan_seconds
        self._clock = clock
        self._syncing = anyio.Lock()
        self._next_look: float | None = None
        self._notices: Sequence[str] = ()

    @property
    def name(self) -> str:
        return "file"

    @property
    def settings(self) -> Mapping[str, object]:
        return {"folders": [asdict(index.folder.place) for index in self._indexes]}

    async def ready(self, tell: StatusCallback) -> None:
        """Bring the index up to date. The first time, over a large folder, this is what takes long."""
        await self._sync(tell)

    def guide(self) -> str:
        return ""

    async def search(self, query: Query) -> Sequence[Hit]:
        """The documents with the best passages, best first; ties in the order of their paths."""
        await self._sync(_tell_nobody)
        try:
            return await to_thread.run_sync(self._hits, query.text)
        except IndexDamaged:
            await self._sync(_tell_nobody, now=True)
        try:
            return await to_thread.run_sync(self._hits, query.text)
        except IndexDamaged as error:
            raise SourceError(f"the index is damaged and cannot be built again: {error}") from error

    async def fetch(self, hit: Hit) -> Document:
        """The document as it is now; its text comes from the index when its bytes have not changed."""
        return await to_thread.run_sync(self._document, hit)

    def notices(self) -> Sequence[str]:
        """What was left out, one line a reason, and what befell the index, as the last look at the folders found it.

        Never asks the index itself: it may be in use by a thread that waits for the event loop, and so for us.
        """
        return self._notices

    def close(self) -> None:
        """Let go of files and processes. The source may be used again, and opens what it needs."""
        self._extractor.close()
        for index in self._indexes:
            index.close()
        self._next_look = None

    async def _sync(self, tell: StatusCallback, *, now: bool = False) -> None:
        async with self._syncing:
            began = self._clock()
            if now or self._next_look is None or began >= self._next_look:
                await to_thread.run_sync(self._sync_all, _Teller(tell, self._clock, began).checkpoint)
                ended = self._clock()
                self._next_look = ended + self._rescan_seconds * longer_pause(ended - began)

    def _sync_all(self, checkpoint: Checkpoint) -> None:
        try:
            for index in self._indexes:
                index.sync(checkpoint)
        finally:
            self._extractor.close()
            self._notices = self._noticed()

    def _noticed(self) -> Sequence[str]:
        reasons: dict[str, list[str]] = defaultdict(list)
        remarks: dict[str, None] = {}
        for index in self._indexes:
            remarks.update(dict.fromkeys(index.remarks()))
            try:
                for skipped in index.left_out():
                    reasons[skipped.reason].append(index.folder.locator(skipped.path))
            except IndexDamaged as error:
                remarks[str(error)] = None
        return [*(_notice(reason, names) for reason, names in sorted(reasons.items())), *map(one_line, remarks)]

    def _hits(self, text: str) -> Sequence[Hit]:
        terms = self._indexes[0].asked(text)
        if not terms:
            return ()
        known = [(index, index.statistics(terms)) for index in self._indexes]
        scorer = Scorer(terms, together(own for _, own in known))
        found: dict[str, Match] = {}
        for index, own in known:
            for match in index.matches(terms, scorer, own):
                found.setdefault(index.folder.locator(match.path), match)
        ranked = sorted(found.items(), key=lambda item: (-item[1].score, item[0]))[:MOST_HITS]
        best = ranked[0][1].score if ranked else 1.0
        return tuple(Hit(at, one.title, round(one.score / best, 6), one.published) for at, one in ranked)

    def _document(self, hit: Hit) -> Document:
        for index in self._indexes:
            relative = index.folder.relative(hit.locator)
            if relative is not None:
                return self._read(index, relative, hit.locator)
        raise SourceError(f"{one_line(hit.locator)}: not in the folders given", GapCategory.SOURCE_NOT_FOUND)

    def _read(self, index: FolderIndex, relative: str, locator: str) -> Document:
        if not is_beneath(index.folder, relative):
            raise SourceError(f"{one_line(locator)}: a link, or reached through one")
        try:
            content = read(index.folder, relative, self._settings.largest_file)
            extracted = self._extracted(index, relative, content)
        except SourceError as error:
            raise SourceError(f"{one_line(locator)}: {error.detail}", error.category) from error
        return extracted.document(self.name, locator, content)

    def _extracted(self, index: FolderIndex, relative: str, content: bytes) -> Extracted:
        try:
            stored = index.stored(relative, digest(content))
        except IndexDamaged:
            stored = None
        if stored is not None:
            return stored
        try:
            return self._extractor.extract(content, relative)
        finally:
            self._extractor.close()


def longer_pause(took: float) -> float:
    """How many times the usual pause follows a look at all files that took so many seconds."""
    return min(max(took / QUICK_LOOK, 1.0), MOST_PATIENT)


async def _tell_nobody(_message: str) -> None:
    """For a sync in passing, of which there is nothing to tell."""


@dataclass
class _Teller:
    """Tells, about once a second, how far a sync has come; and lets it be cancelled at every step."""

    tell: StatusCallback
    clock: Callable[[], float]
    last: float
    steps: int = 0

    def checkpoint(self) -> None:
        from_thread.check_cancelled()
        self.steps += 1
        if self.clock() - self.last >= TELL_SECONDS:
            self.last = self.clock()
            from_thread.run(self.tell, f"indexing, {self.steps} steps so far")


def _notice(reason: str, names: list[str]) -> str:
    shown = ", ".join(one_line(name) for name in sorted(names)[:_NAMES_SHOWN])
    more = ", ..." if len(names) > _NAMES_SHOWN else ""
    return f"{pluralize(len(names), 'file')} skipped: {one_line(reason)} ({shown}{more})"
