"""The nouns of the files researcher: a folder, what is found in it, what is kept of it."""

import stat
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Final, Self

from marchwarden.errors import InvalidInput, StorageError
from marchwarden.extraction import Extracted

Checkpoint = Callable[[], None]
"""Called between two pieces of work; raises when the work is no longer wanted."""

UNLISTED_FOLDERS: Final = frozenset({"node_modules", "__pycache__"})


class IndexDamaged(StorageError):
    """The index cannot be read as one: it is thrown away and built again."""


@dataclass(frozen=True)
class IndexSettings:
    """How large a file may be, how much work a killed run may lose, and how long to wait for another process."""

    largest_file: int = 20_000_000
    batch_files: int = 2_000
    batch_bytes: int = 16_000_000
    batch_seconds: float = 3.0
    lock_seconds: float = 10.0


@dataclass(frozen=True)
class Place:
    """A folder or file as a trace remembers it."""

    path: str
    shown: str


@dataclass(frozen=True)
class Folder:
    """A folder to research, or one file of it. `shown` is the folder as the user wrote it: locators begin with it."""

    root: Path
    shown: str
    only: str | None = None

    @classmethod
    def at(cls, path: str | Path) -> Self:
        """The folder or file a user named; raises `InvalidInput` when there is none."""
        given = Path(path)
        try:
            mode = given.stat().st_mode
        except (OSError, ValueError) as error:
            raise InvalidInput(f"no such file or folder: {given}") from error
        if stat.S_ISDIR(mode):
            return cls(given.resolve(), _shown(given))
        if not stat.S_ISREG(mode):
            raise InvalidInput(f"neither a folder nor a regular file: {given}")
        return cls(given.parent.resolve(), _shown(given.parent), given.name)

    @classmethod
    def again(cls, place: Place) -> Self:
        """The folder of an earlier run, shown as it was then, wherever we stand now."""
        return replace(cls.at(place.path), shown=place.shown)

    @property
    def place(self) -> Place:
        return Place(self.absolute, self.shown)

    @property
    def absolute(self) -> str:
        return str(self.root / self.only if self.only else self.root)

    def locator(self, relative: str) -> str:
        return relative if self.shown == "" else f"{self.shown.rstrip('/')}/{relative}"

    def relative(self, locator: str) -> str | None:
        """The path beneath this folder that a locator means, if it means one that would be listed."""
        prefix = self.locator("")
        relative = locator.removeprefix(prefix)
        beneath = locator.startswith(prefix) and relative != ""
        return relative if beneath and (relative == self.only if self.only else is_listed(relative)) else None


def _shown(path: Path) -> str:
    return "" if str(path) == "." else str(path)


def is_listed(relative: str) -> bool:
    """Whether no part of the path is hidden, leads upwards, or is a folder of generated files."""
    # A leading, trailing or doubled slash leaves an empty part.
    return all(part and not part.startswith(".") and part not in UNLISTED_FOLDERS for part in relative.split("/"))


@dataclass(frozen=True)
class FoundFile:
    """A file a scan met. Equal stamps mean an unchanged file; an empty stamp means it must be looked into."""

    path: str
    stamp: str


@dataclass(frozen=True)
class Skipped:
    """A file that is left out, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class Known:
    """What the index holds of a path."""

    id: int
    stamp: str
    content_hash: str


@dataclass(frozen=True)
class Entry:
    """A file as it goes into the index: its text, or the reason it has none."""

    path: str
    stamp: str
    content_hash: str
    extracted: Extracted | None = field(default=None, repr=False)
    skipped: str = ""


@dataclass
class Batch:
    """Changes that are committed together."""

    entries: list[Entry] = field(default_factory=list)
    obsolete: list[int] = field(default_factory=list)
    unchanged: list[tuple[int, str]] = field(default_factory=list)
    size: int = 0

    def __bool__(self) -> bool:
        return bool(self.entries or self.obsolete or self.unchanged)


@dataclass(frozen=True)
class Match:
    """A document that answers a query, by its best passage."""

    path: str
    title: str
    published: date | None
    score: float
