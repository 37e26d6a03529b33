"""List and read the files of a folder. Does not follow links and opens only regular files."""

import errno
import os
import stat
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from marchwarden.contract import GapCategory
from marchwarden.extraction import Unreadable
from marchwarden.researchers.files.ignore import IgnoreRules, PatternFile, parse_patterns
from marchwarden.researchers.files.models import IGNORED_FOLDERS, Folder, SkipKind, SkippedFile
from marchwarden.researchers.files.noise import is_cache, is_generated_name, is_theme_file

IGNORE_FILES: Final = (".gitignore", ".marchwardenignore")
"""The later one takes precedence."""
MAX_IGNORE_FILE_BYTES: Final = 262_144
_LINK_LOOP: Final = "symbolic link to itself"
_STABLE_AFTER_NS: Final = 2_000_000_000
"""A file changed more recently may change again within the clock resolution, so its stamp proves nothing."""


@dataclass(frozen=True)
class Listing:
    """The files directly in one folder: their stamps by path, and what is skipped.

    Equal stamps mean an unchanged file; with an empty stamp the content must be compared.
    """

    stamps: Mapping[str, str]
    skipped: Sequence[SkippedFile] = ()


def _ignore(_path: str) -> None:
    """Do nothing."""


def scan(
    folder: Folder, *, max_bytes: int, exclude: Path, before_folder: Callable[[str], None] = _ignore
) -> Iterator[Listing]:
    """Yield every folder in a folder. Hidden files are left out. The order is the same every time.

    `before_folder` is called with the path of each folder before it is listed.
    """
    if folder.only:
        path = folder.root / folder.only
        yield _list_one(folder.root, folder.only, path, max_bytes)
    else:
        yield from _Scan(folder, max_bytes, str(exclude)).run(before_folder)


def _list_one(root: Path, relative: str, path: Path, max_bytes: int) -> Listing:
    try:
        status = path.lstat()
    except OSError as error:
        return Listing({}, [SkippedFile(relative, _reason(error))])
    skipped = _why_skipped(root, relative, status, max_bytes)
    if skipped is not None or stat.S_ISLNK(status.st_mode):
        return Listing({}, [skipped] if skipped else [])
    return Listing({relative: _stamp(status, time.time_ns() - _STABLE_AFTER_NS)})


@dataclass(frozen=True)
class _Below:
    """A folder to list: its path, empty or with a slash at the end, and the rules from above."""

    base: str
    rules: IgnoreRules
    is_included: bool


class _Scan:
    """Lists a folder and its subfolders. Written for speed: a folder may hold 100,000 files."""

    def __init__(self, folder: Folder, max_bytes: int, excluded_path: str) -> None:
        self._root = folder.root
        self._max_bytes = max_bytes
        self._excluded_path = excluded_path
        self._include = PatternFile("", parse_patterns(folder.include))
        self._exclude = PatternFile("", parse_patterns(folder.exclude))
        self._stable_before = time.time_ns() - _STABLE_AFTER_NS

    def run(self, before_folder: Callable[[str], None]) -> Iterator[Listing]:
        pending = [_Below("", IgnoreRules(), not self._include.patterns)]
        while pending:
            place = pending.pop()
            before_folder(f"{self._root}/{place.base}")
            try:
                with os.scandir(self._root / place.base) as listing:
                    entries = sorted(listing, key=_name)
            except OSError as error:
                yield Listing({}, [SkippedFile(place.base, _reason(error))])
                continue
            names = {entry.name for entry in entries}
            if place.base and is_cache(names):
                yield Listing({}, [SkippedFile(place.base, "a cache or a virtual environment", SkipKind.GENERATED)])
                continue
            yield self._list(_with_ignore_files(place, names, self._root), entries, names, pending)

    def _list(
        self, place: _Below, entries: Sequence[os.DirEntry[str]], names: Collection[str], pending: list[_Below]
    ) -> Listing:
        stamps: dict[str, str] = {}
        skipped: list[SkippedFile] = []
        for entry in entries:
            name = entry.name
            if name[0] == "." or name in IGNORED_FOLDERS:
                continue
            path = place.base + name
            is_folder = entry.is_dir(follow_symlinks=False)
            is_included = place.is_included or bool(self._include.decide(path, name, is_folder=is_folder))
            if self._is_ignored(place.rules, path, name, is_included=is_included, is_folder=is_folder):
                skipped.append(SkippedFile(f"{path}/" if is_folder else path, "by your rules", SkipKind.IGNORED))
            elif is_folder:
                if entry.path != self._excluded_path:
                    pending.append(_Below(f"{path}/", place.rules, is_included))
            elif is_generated_name(name) or is_theme_file(place.base[:-1], names, name):
                skipped.append(SkippedFile(path, "generated, by its name", SkipKind.GENERATED))
            else:
                self._classify(entry, path, stamps, skipped)
        return Listing(stamps, skipped)

    def _is_ignored(self, rules: IgnoreRules, path: str, name: str, *, is_included: bool, is_folder: bool) -> bool:
        if self._exclude.patterns and self._exclude.decide(path, name, is_folder=is_folder):
            return True
        return not (is_included or is_folder) or rules.ignores(path, name, is_folder=is_folder)

    def _classify(self, entry: os.DirEntry[str], path: str, stamps: dict[str, str], skipped: list[SkippedFile]) -> None:
        try:
            if not entry.name.isascii():
                path.encode()
            status = entry.stat(follow_symlinks=False)
        except UnicodeEncodeError:
            skipped.append(SkippedFile(path, "the file name is not UTF-8"))
        except OSError as error:
            skipped.append(SkippedFile(path, _reason(error)))
        else:
            if not stat.S_ISREG(status.st_mode) or status.st_size > self._max_bytes:
                reason = _why_skipped(self._root, path, status, self._max_bytes)
                skipped += [reason] if reason else []
            else:
                stamps[path] = _stamp(status, self._stable_before)


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _with_ignore_files(place: _Below, names: Collection[str], root: Path) -> _Below:
    """Return the folder with the rules of the ignore files in it."""
    lines = [line for name in IGNORE_FILES if name in names for line in _read_lines(f"{root}/{place.base}{name}")]
    return replace(place, rules=place.rules.below(place.base, lines)) if lines else place


def _read_lines(path: str) -> list[str]:
    """Return the lines of an ignore file. One that cannot be read has none."""
    try:
        return _read_file(path, MAX_IGNORE_FILE_BYTES).decode(errors="replace").splitlines()
    except (OSError, Unreadable):
        return []


def read(folder: Folder, relative: str, max_bytes: int) -> bytes:
    """Return the content of a file. Raises `Unreadable` if a scan would no longer list it."""
    try:
        return _read_file(f"{folder.root}/{relative}", max_bytes)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise Unreadable(_reason(error), GapCategory.SOURCE_NOT_FOUND) from error
    except OSError as error:
        raise Unreadable(_reason(error)) from error


def _read_file(path: str, max_bytes: int) -> bytes:
    # The file may have been replaced by a pipe or link since the scan: do not wait for it or follow it.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Unreadable("not a regular file")
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise Unreadable(_size_limit_text(max_bytes))
    return content


def find_container(folder: Folder, relative: str) -> str:
    """Return the regular file that a path leads to or into: `a/b.zip` for `a/b.zip/c/d.txt`. Else the path itself."""
    parts = relative.split("/")
    for count in range(1, len(parts)):
        path = "/".join(parts[:count])
        try:
            mode = (folder.root / path).lstat().st_mode
        except OSError:
            break
        if stat.S_ISREG(mode):
            return path
    return relative


def is_inside(folder: Folder, relative: str) -> bool:
    """Whether a path contains no symbolic links and therefore is really inside the folder."""
    path = folder.root / relative
    return os.path.realpath(path) == str(path)


def _why_skipped(root: Path, relative: str, status: os.stat_result, max_bytes: int) -> SkippedFile | None:
    """Return why a file is skipped. Links inside the folder are ignored: their target is listed itself."""
    if stat.S_ISLNK(status.st_mode):
        reason = _why_link_skipped(root, relative)
        return SkippedFile(relative, reason, SkipKind.SPECIAL) if reason else None
    if not stat.S_ISREG(status.st_mode):
        return SkippedFile(relative, "not a regular file", SkipKind.SPECIAL)
    if status.st_size > max_bytes:
        return SkippedFile(relative, _size_limit_text(max_bytes), SkipKind.TOO_LARGE)
    return None


def _why_link_skipped(root: Path, relative: str) -> str:
    try:
        target = (root / relative).resolve(strict=True)
    except RuntimeError:
        return _LINK_LOOP
    except OSError as error:
        return _LINK_LOOP if error.errno == errno.ELOOP else "broken symbolic link"
    return "" if target.is_relative_to(root) else "symbolic link to outside the folder"


def _stamp(status: os.stat_result, stable_before: int) -> str:
    """Return a stamp, or nothing for a file that was changed so recently that it may change again unnoticed."""
    modified, changed = status.st_mtime_ns, status.st_ctime_ns
    if modified > stable_before or changed > stable_before:
        return ""
    return f"{status.st_size}:{modified}:{changed}:{status.st_ino}"


def _reason(error: OSError) -> str:
    return f"cannot be opened ({os.strerror(error.errno or errno.EIO)})"


def _size_limit_text(max_bytes: int) -> str:
    return f"larger than {max_bytes / 1_000_000:g} MB"
