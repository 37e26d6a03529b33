"""One process at a time writes an index. The lock dies with its process, however that dies."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from marchwarden.researchers.files.models import Checkpoint

_PAUSE_SECONDS: Final = 0.05


@contextmanager
def locked(path: Path, seconds: float, checkpoint: Checkpoint) -> Iterator[bool]:
    """Hold the lock, or say False when another process still held it after so many seconds."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield _acquired(descriptor, time.monotonic() + seconds, checkpoint)
    finally:
        os.close(descriptor)


def _acquired(descriptor: int, deadline: float, checkpoint: Checkpoint) -> bool:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            checkpoint()
            time.sleep(_PAUSE_SECONDS)
        else:
            return True
