"""Data types of the files researcher: folders, found files and index entries."""

import stat
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Final, Self

from marchwarden.core.paths import describe_missing
from marchwarden.errors import InvalidInput, StorageError
from marchwarden.extraction import Extracted

Checkpoint = Callable[[], None]
"""Called between units of work; raises to cancel."""

IGNORED_FOLDERS: Final = frozenset({"node_modules", "__pycache__"})


class IndexDamaged(StorageError):
    """The index cannot be read. It is deleted and rebuilt."""


@dataclass(frozen=True)
class IndexSettings:
    """Maximum file size, batch size (work that a killed run loses), and how long to wait for another process."""

    max_file_bytes: int = 20_000_000
    batch_files: int = 2_000
    batch_bytes: int = 8_000_000
    batch_seconds: float = 3.0
    lock_seconds: float = 10.0


@dataclass(frozen=True)
class FolderRecord:
    """A folder or file in a trace. The field names are part of the trace format."""

    path: str
    shown: str


@dataclass(frozen=True)
class Folder:
    """A folder, or only one file in it. `shown` is the folder as the user wrote it and the start of its locators."""

    root: Path
    shown: str
    only: str | None = None

    @classmethod
    def at(cls, path: str | Path) -> Self:
        """Find the folder or file that the user named. Raises `InvalidInput` if it does not exist."""
        given = Path(path)
        try:
            mode = given.stat().st_mode
        except (OSError, ValueError) as error:
            raise InvalidInput(describe_missing(given)) from error
        if stat.S_ISDIR(mode):
            return cls(given.resolve(), _shown(given))
        if not stat.S_ISREG(mode):
            raise InvalidInput(f"neither a folder nor a regular file: {given}")
        return cls(given.parent.resolve(), _shown(given.parent), given.name)

    @classmethod
    def from_trace(cls, record: FolderRecord) -> Self:
        """Rebuild the folder of an earlier run, with the same locators in any working directory."""
        return replace(cls.at(record.path), shown=record.shown)

    @property
    def record(self) -> FolderRecord:
        return FolderRecord(self.absolute, self.shown)

    @property
    def absolute(self) -> str:
        return str(self.root / self.only if self.only else self.root)

    @property
    def given(self) -> str:
        """The folder or file as the user wrote it."""
        return self.locator(self.only) if self.only else self.shown or "."

    def locator(self, relative: str) -> str:
        return relative if self.shown == "" else f"{self.shown.rstrip('/')}/{relative}"

    def relative(self, locator: str) -> str | None:
        """Return the path of a locator relative to this folder, or None if a scan would not list it."""
        prefix = self.locator("")
        relative = locator.removeprefix(prefix)
        inside = locator.startswith(prefix) and relative != ""
        return relative if inside and (relative == self.only if self.only else is_listed(relative)) else None


def _shown(path: Path) -> str:
    return "" if str(path) == "." else str(path)


def is_listed(relative: str) -> bool:
    """Whether no part of the path is hidden, `..` or an ignored folder."""
    # A leading, trailing or doubled slash leaves an empty part.
    return all(part and not part.startswith(".") and part not in IGNORED_FOLDERS for part in relative.split("/"))


@dataclass(frozen=True)
class FoundFile:
    """A file found by a scan. Equal stamps mean an unchanged file; with an empty stamp the content must be compared."""

    path: str
    stamp: str


@dataclass(frozen=True)
class SkippedFile:
    """A file that is not indexed, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class IndexedFile:
    """A file as the index knows it."""

    id: int
    stamp: str
    content_hash: str


@dataclass(frozen=True)
class IndexEntry:
    """A file to add to the index: its text, or the reason it has none."""

    path: str
    stamp: str
    content_hash: str
    extracted: Extracted | None = field(default=None, repr=False)
    skipped: str = ""


@dataclass
class IndexBatch:
    """Changes that are committed together."""

    entries: list[IndexEntry] = field(default_factory=list)
    obsolete: list[int] = field(default_factory=list)
    unchanged: list[tuple[int, str]] = field(default_factory=list)
    size: int = 0

    def __bool__(self) -> bool:
        return bool(self.entries or self.obsolete or self.unchanged)


@dataclass(frozen=True)
class Match:
    """A document found by a query, with the score of its best passage."""

    path: str
    title: str
    published: date | None
    score: float
