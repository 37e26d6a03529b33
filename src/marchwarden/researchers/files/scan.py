"""What is in a folder: its files, and what is left out of it. Follows no link; opens nothing but regular files."""

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from marchwarden.contract import GapCategory
from marchwarden.extraction import Unreadable
from marchwarden.researchers.files.models import Folder, FoundFile, Skipped, is_listed

_SETTLED_NS: Final = 2_000_000_000
"""A file changed this recently may change again within the same tick of its clock: its stamp proves nothing."""


def scan(folder: Folder, *, largest: int, leave_out: Path) -> Iterator[FoundFile | Skipped]:
    """Every file beneath a folder, each folder's by name; hidden ones are not mentioned."""
    if folder.only:
        yield from _judged(folder.root, folder.only, (folder.root / folder.only).lstat, largest)
        return
    waiting = [""]
    while waiting:
        below = waiting.pop()
        try:
            with os.scandir(folder.root / below) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            yield Skipped(f"{below}/", _reason(error))
            continue
        for entry in entries:
            if not is_listed(entry.name) or entry.path == str(leave_out):
                continue
            relative = f"{below}/{entry.name}" if below else entry.name
            if entry.is_dir(follow_symlinks=False):
                waiting.append(relative)
            else:
                yield from _judged(folder.root, relative, partial(entry.stat, follow_symlinks=False), largest)


def read(folder: Folder, relative: str, largest: int) -> bytes:
    """A file's bytes now; raises `Unreadable` when it is no longer a file that a scan would list."""
    path = f"{folder.root}/{relative}"
    try:
        # Not to wait for a pipe, nor to follow a link, that took the file's place since it was listed.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Unreadable("not a regular file")
            content = file.read(largest + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise Unreadable(_reason(error), GapCategory.SOURCE_NOT_FOUND) from error
    except OSError as error:
        raise Unreadable(_reason(error)) from error
    if len(content) > largest:
        raise Unreadable(_too_large(largest))
    return content


def is_beneath(folder: Folder, relative: str) -> bool:
    """Whether a path really is where it says, with no link on the way."""
    path = folder.root / relative
    return os.path.realpath(path) == str(path)


def _judged(
    root: Path, relative: str, look: Callable[[], os.stat_result], largest: int
) -> Iterator[FoundFile | Skipped]:
    try:
        relative.encode("utf-8")
        status = look()
    except UnicodeEncodeError:
        yield Skipped(relative, "its name is not UTF-8")
        return
    except OSError as error:
        yield Skipped(relative, _reason(error))
        return
    if stat.S_ISLNK(status.st_mode):
        yield from _judged_link(root, relative)
    elif not stat.S_ISREG(status.st_mode):
        yield Skipped(relative, "not a regular file")
    elif status.st_size > largest:
        yield Skipped(relative, _too_large(largest))
    else:
        yield FoundFile(relative, _stamp(status))


def _judged_link(root: Path, relative: str) -> Iterator[Skipped]:
    """A link within the folder needs no mention: what it leads to is listed under its own name."""
    try:
        target = (root / relative).resolve(strict=True)
    except RuntimeError:
        yield Skipped(relative, "a link that leads to itself")
    except OSError as error:
        yield Skipped(relative, "a link that leads to itself" if error.errno == errno.ELOOP else "a link to nothing")
    else:
        if not target.is_relative_to(root):
            yield Skipped(relative, "a link that leaves the folder")


def _stamp(status: os.stat_result) -> str:
    if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) < _SETTLED_NS:
        return ""
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_ino}"


def _reason(error: OSError) -> str:
    return f"it cannot be opened ({os.strerror(error.errno or errno.EIO)})"


def _too_large(largest: int) -> str:
    return f"larger than {largest / 1_000_000:g} MB"
