"""RateLimiter: one request at a time and a pause after each, across all processes on this machine. Knows no HTTP.

A file lock serializes the processes and is released when its process dies. The locked file stores the time of the next
request.
"""

import errno
import fcntl
import os
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from marchwarden.core.paths import create_folder
from marchwarden.errors import SourceError
from marchwarden.fetching import OpenGate, RequestGate

LONGEST_PAUSE: Final = 120.0
"""Longest pause a service may ask for. A longer wait in the file dates from before the last reboot."""
_POLL_SECONDS: Final = 0.05
_TIME_BYTES: Final = 21
SERVICE: Final = "arxiv"


@dataclass
class RequestSlot:
    """Permission for one request. `pause` is how many seconds all processes wait after it ends."""

    pause: float

    def postpone(self, seconds: float) -> None:
        """Lengthen the pause because the service asked for it."""
        self.pause = min(max(self.pause, seconds), LONGEST_PAUSE)


class RateLimiter:
    """The request queue for one service. `clock` must be shared by all processes of the machine."""

    def __init__(
        self,
        path: Path,
        seconds: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        gate: RequestGate | None = None,
    ) -> None:
        self._gate = gate or OpenGate()
        self._path = path
        self._seconds = seconds
        self._clock = clock
        self._local_lock = anyio.Lock()

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[RequestSlot]:
        """Wait for a slot and hold it until the end of the block. Within a process, waiters are served in order.

        The pause starts at the end of the block, so requests never arrive closer together, however long one takes.
        """
        async with self._local_lock, self._gate.at(SERVICE):
            descriptor = self._open_file()
            try:
                await self._lock(descriptor)
                await self._wait(descriptor)
                slot = RequestSlot(self._seconds)
                # Written before the request too: a process killed during the request may have sent it.
                self._write_next_time(descriptor, slot)
                try:
                    yield slot
                finally:
                    self._write_next_time(descriptor, slot)
            finally:
                os.close(descriptor)

    def _open_file(self) -> int:
        """Open the file, or one of this user in the temporary folder if the home folder is full or read-only."""
        try:
            return _open_writable(self._path)
        except OSError as error:
            with suppress(OSError):
                return _open_temporary(self._path.name)
            detail = "arXiv was not queried, because the rate limiter's file cannot be opened"
            raise SourceError(f"{detail}: {error.strerror}") from error

    async def _lock(self, descriptor: int) -> None:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                _raise_if_past_deadline(_POLL_SECONDS)
                await anyio.sleep(_POLL_SECONDS)
            else:
                return

    async def _wait(self, descriptor: int) -> None:
        left = _read_next_time(descriptor) - self._clock()
        left = self._seconds if left > LONGEST_PAUSE else left
        if left > 0:
            _raise_if_past_deadline(left)
            await anyio.sleep(left)

    def _write_next_time(self, descriptor: int, slot: RequestSlot) -> None:
        try:
            os.pwrite(descriptor, f"{self._clock() + slot.pause:020.6f}\n".encode(), 0)
        except OSError as error:
            raise SourceError(f"the rate limiter's file for arXiv cannot be written: {error.strerror}") from error


def _open_writable(path: Path, flags: int = 0) -> int:
    """Open or create a file. Raises `OSError` if there is no space to write the time."""
    create_folder(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | flags, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, _TIME_BYTES)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _open_temporary(name: str) -> int:
    """Open a file in the temporary folder. It is not used if another user has created it."""
    descriptor = _open_writable(Path(tempfile.gettempdir(), f"marchwarden-{os.getuid()}-{name}"), os.O_NOFOLLOW)
    if os.fstat(descriptor).st_uid != os.getuid():
        os.close(descriptor)
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
    return descriptor


def _read_next_time(descriptor: int) -> float:
    try:
        return float(os.pread(descriptor, 64, 0))
    except (OSError, ValueError):
        return 0.0


def _raise_if_past_deadline(seconds: float) -> None:
    """Fail early if the wait would exceed the caller's deadline, so that the next in line is not delayed."""
    if anyio.current_time() + seconds >= anyio.current_effective_deadline():
        raise SourceError("arXiv allows one request every few seconds, and the rate limiter had no free slot in time")
