"""Build, inspect and delete indexes of folders, for `marchwarden index`."""

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from marchwarden.errors import StorageError
from marchwarden.extraction import Extractor
from marchwarden.researchers.files.index import FolderIndex, IndexDescription, lock_file
from marchwarden.researchers.files.models import Folder, IndexSettings, SkipKind, SkippedFile
from marchwarden.researchers.files.progress import PROGRESS_SECONDS, Estimate
from marchwarden.researchers.files.store import IndexStore
from marchwarden.researchers.files.update import list_files

_DESCRIPTION: Final = TypeAdapter(IndexDescription)
_LOCK_SECONDS: Final = 5.0
_SETTINGS: Final = IndexSettings()


@dataclass(frozen=True)
class IndexStatus:
    """The state of one index. `changed` counts the files to read in the next update; None if not checked."""

    path: str
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    documents: int
    size: int
    updated: datetime
    changed: int | None = None
    skipped: tuple[SkippedFile, ...] = ()

    @property
    def skip_counts(self) -> Counter[SkipKind]:
        return Counter(each.kind for each in self.skipped)


@dataclass(frozen=True)
class SavedIndex:
    """An index on disk."""

    root: Path
    description: IndexDescription

    @property
    def folder(self) -> Folder:
        folder = Folder.at(self.description.path)
        return folder.filtered(self.description.include, self.description.exclude)

    def status(self, *, check: bool) -> IndexStatus:
        """Return the state of the index. `check` also lists the folder, for changed and skipped files."""
        described = self.description
        with closing(self._open()) as store:
            documents = store.document_count()
            stamps, skipped = (store.stamps(), store.skipped()) if check else ({}, [])
        changed = None
        if check:
            listed = list_files(self.folder, _SETTINGS.max_file_bytes, self.root.parent, lambda: None)
            changed = sum(_differs(stamp, stamps.get(path)) for path, stamp in listed.stamps.items())
            changed += len(stamps.keys() - listed.stamps.keys())
            skipped = [*listed.skipped, *skipped]
        return IndexStatus(
            path=described.path,
            include=described.include,
            exclude=described.exclude,
            documents=documents,
            size=sum(_sizes(self.root)),
            updated=datetime.fromtimestamp(max(_times(self.root), default=0.0), UTC),
            changed=changed,
            skipped=tuple(sorted(skipped, key=lambda each: (each.kind, each.path))),
        )

    def drop(self) -> None:
        """Delete the index. Raises `StorageError` if another process uses it."""
        try:
            with lock_file(self.root / "lock", _LOCK_SECONDS, lambda: None) as acquired:
                if not acquired:
                    raise StorageError(f"another process updates the index of {self.description.path}; try again later")
                shutil.rmtree(self.root)
        except OSError as error:
            raise StorageError(f"the index in {self.root} cannot be deleted: {error.strerror}") from error

    def _open(self) -> IndexStore:
        try:
            return IndexStore(FolderIndex.database(self.root), read_only=True)
        except OSError as error:
            raise StorageError(f"the index in {self.root} cannot be read: {error.strerror}") from error


def saved_indexes(index_dir: Path, folders: Sequence[Folder] = ()) -> list[SavedIndex]:
    """Return the indexes on disk, of these folders or of all, ordered by path."""
    wanted = {folder.absolute for folder in folders}
    found = [saved for saved in _all_indexes(index_dir) if not wanted or saved.description.path in wanted]
    return sorted(found, key=lambda saved: (saved.description.path, saved.root.name))


def _all_indexes(index_dir: Path) -> Iterator[SavedIndex]:
    for path in index_dir.glob("*/folder.json"):
        # Indexes of other versions have no usable database. The next update replaces them.
        with suppress(OSError, ValidationError):
            description = _DESCRIPTION.validate_json(path.read_bytes())
            if FolderIndex.database(path.parent).exists():
                yield SavedIndex(path.parent, description)


@dataclass(frozen=True)
class Built:
    """An updated index, and how long the update took."""

    saved: SavedIndex
    seconds: float


def build_index(folder: Folder, index_dir: Path, report: Callable[[str], None]) -> Built:
    """Update the index of a folder. Raises `StorageError` if it cannot be saved."""
    began = time.monotonic()
    estimate = Estimate(time.monotonic)
    reported = began

    def checkpoint() -> None:
        nonlocal reported
        if time.monotonic() - reported >= PROGRESS_SECONDS:
            reported = time.monotonic()
            report(str(estimate))

    with Extractor(workers=_SETTINGS.threads) as extractor:
        index = FolderIndex(folder, index_dir.absolute(), extractor, _SETTINGS)
        try:
            index.sync(checkpoint, estimate.update)
        finally:
            index.close()
    if reasons := [each for each in index.warnings() if index.was_in_memory]:
        raise StorageError(reasons[-1])
    (saved,) = (each for each in saved_indexes(index_dir, [folder]) if each.folder.key == folder.key)
    return Built(saved, time.monotonic() - began)


def _differs(stamp: str, known: str | None) -> bool:
    """Whether a file is new or changed. Without a stamp, only its content could tell."""
    return known is None or bool(stamp and known and stamp != known)


def _sizes(root: Path) -> Iterator[int]:
    for folder, _, names in os.walk(root):
        for name in names:
            with suppress(OSError):
                yield Path(folder, name).stat().st_size


def _times(root: Path) -> Iterator[float]:
    """Yield when the database was written."""
    database = FolderIndex.database(root)
    for path in (database, database.with_name(f"{database.name}-wal")):
        with suppress(OSError):
            yield path.stat().st_mtime
