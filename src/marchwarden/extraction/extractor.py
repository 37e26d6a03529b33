"""Extract text from untrusted bytes. Short plain text is read in this process, all else in a killable subprocess."""

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
from marchwarden.extraction import ocr
from marchwarden.extraction.detection import Format, detect_format
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.formats import extract
from marchwarden.extraction.messages import ExtractionRefused, receive_answer, send
from marchwarden.extraction.ocr import OCR_SECONDS

SHORT: Final = 65_536
"""Bytes of plain text that are read in less time than a message to a subprocess takes."""
SECONDS: Final = 30.0
MEMORY: Final = 2 << 30
IDLE_SECONDS: Final = 60.0
_MAY_NEED_OCR: Final = frozenset({Format.PDF, Format.IMAGE})
_ONE_THREAD: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Each thread of a numeric library reserves memory, and there is a worker per core anyway."""
_CLOSING_SECONDS: Final = 5.0


class Extractor:
    """Extracts text from documents; thread-safe. If a worker hangs or crashes, only its document fails.

    At most `workers` processes run at the same time. They start on demand and stop after `idle` seconds without work,
    on `close`, or when the extractor is garbage-collected. Later calls start new ones. The first document of a worker
    gets `starting` additional seconds, because the worker also has to import its parsers. OCR gets `ocr_seconds`.
    """

    def __init__(
        self,
        *,
        workers: int = 2,
        seconds: float = SECONDS,
        memory: int = MEMORY,
        idle: float = IDLE_SECONDS,
        starting: float = 0.0,
        ocr_seconds: float = OCR_SECONDS,
        command: Sequence[str] = (sys.executable, "-P", "-s", "-m", "marchwarden.extraction.worker"),
    ) -> None:
        self._seconds = seconds
        self._starting = starting
        self._ocr_seconds = max(ocr_seconds, seconds)
        # An idle worker exits on its own. Do not use one that may be about to exit.
        self._fresh_seconds = idle / 2
        self._command = (*command, str(seconds), str(memory), str(idle), str(self._ocr_seconds))
        self._workers = workers
        self._free = threading.BoundedSemaphore(workers)
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._return_lock = threading.Lock()
        self._close_count = 0
        weakref.finalize(self, _stop_all, self._idle)

    def extract(self, content: bytes, name: str) -> Extracted:
        """Extract the clean text of a document. Raises `Unreadable` if it has none.

        Any other `SourceError` is a problem of this installation; the same bytes may be readable later.
        """
        kind = detect_format(content, name)
        if kind is Format.TEXT and len(content) <= SHORT:
            return extract(content, name)
        if kind is Format.IMAGE:
            ocr.require("an image")
        close_count = self._close_count
        with self._free:
            worker = self._worker()
            seconds = self._seconds + (0.0 if worker.has_read else self._starting)
            try:
                return worker.read(content, name, seconds, self._ocr_seconds if kind in _MAY_NEED_OCR else 0.0)
            finally:
                self._return_worker(worker, close_count)

    def warm(self) -> None:
        """Start the workers early, so that they import their parsers while the caller waits for something else.

        A worker that does not start is reported when a document needs it.
        """
        close_count, slots, warm = self._close_count, 0, list[_Worker]()
        try:
            with suppress(SourceError):
                while self._free.acquire(blocking=False):
                    slots += 1
                    warm.append(self._worker())
        finally:
            for worker in warm:
                self._return_worker(worker, close_count)
            for _ in range(slots):
                self._free.release()

    def close(self) -> None:
        """Stop idle workers now, and busy ones when they finish their document."""
        with self._return_lock:
            self._close_count += 1
        _stop_all(self._idle)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _return_worker(self, worker: "_Worker", close_count: int) -> None:
        """Keep the worker for the next document, unless `close` was called in the meantime."""
        with self._return_lock:
            if worker.usable and close_count == self._close_count:
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
        try:
            return _Worker(self._command)
        except OSError as error:
            raise SourceError(f"its parser could not be started: {error.strerror}") from error


class _Worker:
    """A child process and its pipes."""

    def __init__(self, command: Sequence[str]) -> None:
        # The child parses hostile documents, so it gets no environment (and no keys) except the path of this package.
        self._process = subprocess.Popen(  # noqa: S603 - the command is not user input
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONUTF8": "1"} | _ONE_THREAD,
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

    def read(self, content: bytes, name: str, seconds: float, ocr_seconds: float) -> Extracted:
        """Read a document. The worker stops itself after `seconds` unless it begins with OCR."""
        timed_out = threading.Event()

        def kill() -> None:
            timed_out.set()
            self._process.kill()

        watchdog = threading.Timer(max(seconds, ocr_seconds), kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            return self._request(content, name)
        except OSError as error:
            self.stop()
            killed = timed_out.is_set() or self._process.returncode == -signal.SIGALRM
            reason = f"reading it took longer than {seconds:g} seconds" if killed else "reading it crashed the parser"
            raise Unreadable(reason) from error
        finally:
            watchdog.cancel()
            watchdog.join()
            self._idle_since = time.monotonic()

    def _request(self, content: bytes, name: str) -> Extracted:
        self.has_read = True
        send(self._requests, name.encode("utf-8", "replace"))
        send(self._requests, content)
        answer = receive_answer(self._answers)
        if isinstance(answer, ExtractionRefused):
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
