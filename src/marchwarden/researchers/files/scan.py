"""List and read the files of a folder. Does not follow links and opens only regular files."""

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
from marchwarden.researchers.files.models import Folder, FoundFile, SkippedFile, is_listed

_LINK_LOOP: Final = "symbolic link to itself"
_STABLE_AFTER_NS: Final = 2_000_000_000
"""A file changed more recently may change again within the clock resolution, so its stamp proves nothing."""


def scan(folder: Folder, *, max_bytes: int, exclude: Path) -> Iterator[FoundFile | SkippedFile]:
    """Yield every file in a folder, sorted by name within each subfolder. Hidden files are ignored."""
    if folder.only:
        yield from _classify(folder.root, folder.only, (folder.root / folder.only).lstat, max_bytes)
        return
    pending = [""]
    while pending:
        below = pending.pop()
        try:
            with os.scandir(folder.root / below) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            yield SkippedFile(f"{below}/" if below else "", _reason(error))
            continue
        for entry in entries:
            if not is_listed(entry.name) or entry.path == str(exclude):
                continue
            relative = f"{below}/{entry.name}" if below else entry.name
            if entry.is_dir(follow_symlinks=False):
                pending.append(relative)
            else:
                yield from _classify(folder.root, relative, partial(entry.stat, follow_symlinks=False), max_bytes)


def read(folder: Folder, relative: str, max_bytes: int) -> bytes:
    """Return the content of a file. Raises `Unreadable` if a scan would no longer list it."""
    path = f"{folder.root}/{relative}"
    try:
        # The file may have been replaced by a pipe or link since the scan: do not wait for it or follow it.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Unreadable("not a regular file")
            content = file.read(max_bytes + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise Unreadable(_reason(error), GapCategory.SOURCE_NOT_FOUND) from error
    except OSError as error:
        raise Unreadable(_reason(error)) from error
    if len(content) > max_bytes:
        raise Unreadable(_size_limit_text(max_bytes))
    return content


def is_inside(folder: Folder, relative: str) -> bool:
    """Whether a path contains no symbolic links and therefore is really inside the folder."""
    path = folder.root / relative
    return os.path.realpath(path) == str(path)


def _classify(
    root: Path, relative: str, read_status: Callable[[], os.stat_result], max_bytes: int
) -> Iterator[FoundFile | SkippedFile]:
    try:
        relative.encode("utf-8")
        status = read_status()
    except UnicodeEncodeError:
        yield SkippedFile(relative, "the file name is not UTF-8")
        return
    except OSError as error:
        yield SkippedFile(relative, _reason(error))
        return
    if stat.S_ISLNK(status.st_mode):
        yield from _classify_link(root, relative)
    elif not stat.S_ISREG(status.st_mode):
        yield SkippedFile(relative, "not a regular file")
    elif status.st_size > max_bytes:
        yield SkippedFile(relative, _size_limit_text(max_bytes))
    else:
        yield FoundFile(relative, _stamp(status))


def _classify_link(root: Path, relative: str) -> Iterator[SkippedFile]:
    """Yield why a link is skipped. Links inside the folder are ignored: their target is listed itself."""
    try:
        target = (root / relative).resolve(strict=True)
    except RuntimeError:
        yield SkippedFile(relative, _LINK_LOOP)
    except OSError as error:
        yield SkippedFile(relative, _LINK_LOOP if error.errno == errno.ELOOP else "broken symbolic link")
    else:
        if not target.is_relative_to(root):
            yield SkippedFile(relative, "symbolic link to outside the folder")


def _stamp(status: os.stat_result) -> str:
    if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) < _STABLE_AFTER_NS:
        return ""
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_ino}"


def _reason(error: OSError) -> str:
    return f"cannot be opened ({os.strerror(error.errno or errno.EIO)})"


def _size_limit_text(max_bytes: int) -> str:
    return f"larger than {max_bytes / 1_000_000:g} MB"
