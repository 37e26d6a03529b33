"""Notice changes in a folder without listing it, with inotify (Linux). Elsewhere, everything may have changed.

Not every change is seen: inotify does not report those that other machines make on a network drive, nor those through
memory mappings. So the watcher only saves work between two full checks.
"""

import ctypes
import errno
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

FULL_CHECK_SECONDS: Final = 60.0
"""After this time, a folder counts as changed whatever was noticed."""
_MASK: Final = 0x0002 | 0x0004 | 0x0008 | 0x0040 | 0x0080 | 0x0100 | 0x0200 | 0x0400 | 0x0800 | 0x01000000 | 0x02000000
"""MODIFY, ATTRIB, CLOSE_WRITE, MOVED_FROM, MOVED_TO, CREATE, DELETE, DELETE_SELF, MOVE_SELF, ONLYDIR, DONT_FOLLOW."""


class FolderWatcher:
    """Watches the folders of one listing. Call `begin`, `add` before each folder is listed, and `finish`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._descriptor = -1
        self._is_complete = False
        self._checked = 0.0

    def begin(self) -> None:
        """Start a new listing: forget the folders watched so far."""
        self.close()
        self._checked = self._clock()
        if sys.platform == "linux":
            self._descriptor = _libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self._is_complete = self._descriptor >= 0

    def add(self, path: str) -> None:
        """Watch a folder. If that is not possible, for example because of the limit, nothing is watched."""
        if self._is_complete and _libc().inotify_add_watch(self._descriptor, os.fsencode(path), _MASK) < 0:
            # A folder that is gone by now is none to watch: the event of the folder above it was noticed.
            self._is_complete = ctypes.get_errno() in {errno.ENOENT, errno.ENOTDIR}

    def is_unchanged(self) -> bool:
        """Whether the listing is recent and nothing has changed since it began."""
        if not self._is_complete or self._clock() - self._checked >= FULL_CHECK_SECONDS:
            return False
        try:
            os.read(self._descriptor, 65_536)
        except BlockingIOError:
            return True
        except OSError:
            pass
        self._is_complete = False
        return False

    def close(self) -> None:
        descriptor, self._descriptor, self._is_complete = self._descriptor, -1, False
        if descriptor >= 0:
            with suppress(OSError):
                os.close(descriptor)

    def __del__(self) -> None:
        self.close()


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
