"""RateLimiter: one request at a time, and a pause after it, for every process on this machine. Knows no HTTP.

The lock dies with its process, however that dies; when the next request may be made is written into the locked file.
"""

import fcntl
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from marchwarden.errors import SourceError
from marchwarden.fetching import OpenGate, RequestGate

LONGEST_PAUSE: Final = 120.0
"""What a service may ask for at most. A longer wait in the file was written before the machine was last started."""
_POLL_SECONDS: Final = 0.05
SERVICE: Final = "arxiv"


@dataclass
class RequestSlot:
    """A turn that is held. `pause` is how long everybody keeps away when it ends."""

    pause: float

    def postpone(self, seconds: float) -> None:
        """The service asked to be left alone for so long."""
        self.pause = min(max(self.pause, seconds), LONGEST_PAUSE)


class RateLimiter:
    """The queue for one service. `clock` must be one that all processes of the machine share."""

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
        """Wait for a turn and slot it until the end of the block; in this process, first come, first served.

        The pause is counted from the end, so that no request arrives sooner after the one before, however long that
        one was on its way.
        """
        async with self._local_lock, self._gate.at(SERVICE):
            descriptor = self._open_file()
            try:
                await self._lock(descriptor)
                await self._wait(descriptor)
                slot = RequestSlot(self._seconds)
                # Whoever is killed while it asks has asked.
                self._write_next_time(descriptor, slot)
                try:
                    yield slot
                finally:
                    self._write_next_time(descriptor, slot)
            finally:
                os.close(descriptor)

    def _open_file(self) -> int:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            detail = "arXiv is not asked, because its turns cannot be kept on disk"
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
            raise SourceError(f"arXiv's turn could not be noted on disk: {error.strerror}") from error


def _read_next_time(descriptor: int) -> float:
    try:
        return float(os.pread(descriptor, 64, 0))
    except (OSError, ValueError):
        return 0.0


def _raise_if_past_deadline(seconds: float) -> None:
    """Waiting in vain helps nobody, least of all whoever is next."""
    if anyio.current_time() + seconds >= anyio.current_effective_deadline():
        raise SourceError(
            "arXiv is asked by one at a time and not more than every few seconds: there was no turn in time"
        )
