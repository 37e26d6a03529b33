"""Extractor: text from bytes of unknown origin. Plain text is read here, all else in a process that can be killed."""

import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import IO, Final, Self

from marchwarden.errors import SourceError
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.formats import Format, extract, format_of
from marchwarden.extraction.messages import LARGEST_ANSWER, Refused, receive, send, unpacked

SECONDS: Final = 30.0
MEMORY: Final = 2 << 30
IDLE_SECONDS: Final = 60.0
_CLOSING_SECONDS: Final = 5.0


class Extractor:
    """Reads documents, from any thread. A worker that hangs or dies costs its document, never the caller.

    At most `workers` processes run at once; they start when they are needed and stay until nothing came for `idle`
    seconds, until `close`, or until the extractor itself is gone. After any of these new ones may start. A worker's
    first document has `starting` seconds more: it also has to load what it reads with.
    """

    def __init__(
        self,
        *,
        workers: int = 2,
        seconds: float = SECONDS,
        memory: int = MEMORY,
        idle: float = IDLE_SECONDS,
        starting: float = 0.0,
        command: Sequence[str] = (sys.executable, "-P", "-s", "-m", "marchwarden.extraction.worker"),
    ) -> None:
        self._seconds = seconds
        self._starting = starting
        # A worker ends by itself when it was idle for too long. None is used that might be about to.
        self._fresh_seconds = idle / 2
        self._command = (*command, str(seconds), str(memory), str(idle))
        self._workers = workers
        self._free = threading.BoundedSemaphore(workers)
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._returning = threading.Lock()
        self._closings = 0
        weakref.finalize(self, _stop_all, self._idle)

    def extract(self, content: bytes, name: str) -> Extracted:
        """The clean text of a document; raises `Unreadable` with the reason when there is none.

        Any other `SourceError` is this installation's fault, and the same bytes may be readable tomorrow.
        """
        if format_of(content, name) is Format.TEXT:
            return extract(content, name)
        closings = self._closings
        with self._free:
            worker = self._worker()
            try:
                return worker.read(content, name, self._seconds + (0.0 if worker.has_read else self._starting))
            finally:
                self._take_back(worker, closings)

    def warm(self) -> None:
        """Start the workers before they are needed: they load their readers while the caller waits for other things."""
        closings, warm = self._closings, list[_Worker]()
        try:
            while self._free.acquire(blocking=False):
                warm.append(self._worker())
        finally:
            for worker in warm:
                self._take_back(worker, closings)
                self._free.release()

    def close(self) -> None:
        """Stop the idle workers at once, and those that still read as soon as they have."""
        with self._returning:
            self._closings += 1
        _stop_all(self._idle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _take_back(self, worker: "_Worker", closings: int) -> None:
        """Keep the worker, unless a `close` came meanwhile: a caller who gave up on the document will send no other."""
        with self._returning:
            if worker.usable and closings == self._closings:
                self._idle.put(worker)
                return
        worker.stop()

    def _worker(self) -> "_Worker":
        with suppress(Empty):
            while True:
                worker = self._idle.get_nowait()
                if worker.usable and worker.idle_seconds < self._fresh_seconds:
                    return worker
                worker.stop()
        return _Worker(self._command)


class _Worker:
    """One child process and the pipes to it."""

    def __init__(self, command: Sequence[str]) -> None:
        # The child gets no environment beyond where this package stands: what it reads is hostile, and keys are not
        # its business.
        self._process = subprocess.Popen(  # noqa: S603 - the command is ours
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONUTF8": "1"},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests: IO[bytes] = self._process.stdin
        self._answers: IO[bytes] = self._process.stdout
        self._idle_since = time.monotonic()
        self.has_read = False

    @property
    def usable(self) -> bool:
        return self._process.poll() is None

    @property
    def idle_seconds(self) -> float:
        return time.monotonic() - self._idle_since

    def read(self, content: bytes, name: str, seconds: float) -> Extracted:
        too_late = threading.Event()

        def kill() -> None:
            too_late.set()
            self._process.kill()

        watchdog = threading.Timer(seconds, kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            return self._exchange(content, name)
        except OSError as error:
            self.stop()
            killed = too_late.is_set() or self._process.returncode == -signal.SIGALRM
            reason = f"reading it took longer than {seconds:g} seconds" if killed else "reading it crashed the reader"
            raise Unreadable(reason) from error
        finally:
            watchdog.cancel()
            watchdog.join()
            self._idle_since = time.monotonic()

    def _exchange(self, content: bytes, name: str) -> Extracted:
        self.has_read = True
        send(self._requests, name.encode("utf-8", "replace"))
        send(self._requests, content)
        answer = unpacked(receive(self._answers, LARGEST_ANSWER))
        if isinstance(answer, Refused):
            raise Unreadable(answer.reason) if answer.lasting else SourceError(answer.reason)
        return answer

    def stop(self) -> None:
        self._process.kill()
        for pipe in (self._requests, self._answers):
            with suppress(OSError):
                pipe.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_CLOSING_SECONDS)


def _stop_all(idle: SimpleQueue[_Worker]) -> None:
    with suppress(Empty):
        while True:
            idle.get_nowait().stop()
