"""Data types of the files researcher: folders, found files and index entries."""

import json
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Final, Self

from marchwarden.core.paths import describe_missing
from marchwarden.errors import InvalidInput, StorageError
from marchwarden.extraction import Extracted

Checkpoint = Callable[[], None]
"""Called between units of work; raises to cancel."""

IndexProgress = Callable[[int, int], None]
"""Called with the number of files read so far and the number of files to read."""

IGNORED_FOLDERS: Final = frozenset(
    {
        "__MACOSX",
        "__pycache__",
        "__pypackages__",
        "_darcs",
        "bower_components",
        "CVS",
        "jspm_packages",
        "node_modules",
    }
)


def ignore_progress(_done: int, _total: int) -> None:
    """Discard progress."""


class SkipKind(StrEnum):
    """Why a file is skipped. The values are shown."""

    IMAGE = "image"
    BINARY = "binary"
    GENERATED = "generated"
    DUPLICATE = "duplicate"
    IGNORED = "ignored"
    SPECIAL = "link or device"
    TOO_LARGE = "too large"
    UNREADABLE = "unreadable"

    @property
    def is_problem(self) -> bool:
        """Whether the file may be missed. Other files are not documents."""
        return self in {SkipKind.TOO_LARGE, SkipKind.UNREADABLE}


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
    threads: int = field(default_factory=lambda: min(count_cores(), 16))


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class FolderRecord:
    """A folder or file in a trace. The field names are part of the trace format."""

    path: str
    shown: str


@dataclass(frozen=True)
class Folder:
    """A folder, or only one file in it. `shown` is the folder as the user wrote it and the start of its locators.

    Files that match `exclude`, or do not match `include`, are ignored. Both are patterns as in `.gitignore`.
    """

    root: Path
    shown: str
    only: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

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
    def key(self) -> str:
        """The name of its index, which depends on what is read."""
        filters = [sorted(set(self.include)), sorted(set(self.exclude))]
        return f"{self.absolute}\0{json.dumps(filters)}" if any(filters) else self.absolute

    def filtered(self, include: Sequence[str], exclude: Sequence[str]) -> Self:
        """Return the folder with these filters. A file that the user named is never ignored."""
        return self if self.only else replace(self, include=tuple(include), exclude=tuple(exclude))

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
        if self.only is not None:
            is_member = relative.startswith(f"{self.only}/") and is_listed(relative.removeprefix(f"{self.only}/"))
            return relative if inside and (relative == self.only or is_member) else None
        return relative if inside and is_listed(relative) else None


def _shown(path: Path) -> str:
    return "" if str(path) == "." else str(path)


def is_listed(relative: str) -> bool:
    """Whether no part of the path is hidden, `..` or an ignored folder."""
    # A leading, trailing or doubled slash leaves an empty part.
    return all(part and not part.startswith(".") and part not in IGNORED_FOLDERS for part in relative.split("/"))


@dataclass(frozen=True)
class FoundFile:
    """A file to read. With an empty stamp, its content must be compared in every update."""

    path: str
    stamp: str


@dataclass(frozen=True)
class SkippedFile:
    """A file that is not indexed, and why."""

    path: str
    reason: str
    kind: SkipKind = SkipKind.UNREADABLE


@dataclass(frozen=True)
class IndexEntry:
    """A document to add to the index: its text, or the reason it has none.

    `container` is the path of the file it is a part of, if it is an attachment or in an archive. `passages` holds the
    terms of its passages, unless they are still to be computed.
    """

    path: str
    stamp: str
    content_hash: str
    extracted: Extracted | None = field(default=None, repr=False)
    skipped: str = ""
    kind: SkipKind = SkipKind.UNREADABLE
    container: str = ""
    text_key: str = ""
    passages: Sequence[str] | None = field(default=None, repr=False)


@dataclass
class IndexBatch:
    """Changes that are committed together."""

    entries: list[IndexEntry] = field(default_factory=list)
    obsolete: list[str] = field(default_factory=list)
    """Paths of files that were changed or deleted. Their members go with them."""
    unchanged: list[tuple[str, str]] = field(default_factory=list)
    """Paths and stamps of files with a new stamp and the same content."""
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
