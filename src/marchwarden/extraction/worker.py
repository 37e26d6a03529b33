"""Worker process that parses untrusted documents. Its arguments: SECONDS BYTES IDLE_SECONDS OCR_SECONDS.

In a loop, reads a name and a document from standard input and writes the answer to standard output. Exits when the
input ends or stays idle too long. It limits its own memory; the parent process limits its time and kills it.
"""

import importlib
import math
import os
import resource
import select
import signal
import sys
from contextlib import suppress
from typing import IO, Final

from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.formats import extract
from marchwarden.extraction.messages import ExtractionRefused, receive, send_answer
from marchwarden.extraction.ocr import OcrBudget, default_budget

_GRACE_SECONDS: Final = 2
_OCR_SHARE: Final = 0.8
"""The rest is for loading the models, and for pages that take longer than those before."""
_SAMPLE_PAGE: Final = b"<html><body><article><p>A short page, read to load the parsers.</p></article></body></html>"


def serve(requests: IO[bytes], answers: IO[bytes], seconds: float, idle: float, ocr_seconds: float) -> None:
    def budget() -> float:
        signal.alarm(math.ceil(ocr_seconds) + _GRACE_SECONDS)
        return ocr_seconds * _OCR_SHARE

    while True:
        signal.alarm(math.ceil(idle))
        try:
            name, content = receive(requests).decode(), receive(requests)
        except ConnectionError:
            return
        # If the parent is gone, nothing kills this process. The default action of the alarm signal does.
        signal.alarm(math.ceil(seconds) + _GRACE_SECONDS)
        send_answer(answers, _read(content, name, budget))


def _read(content: bytes, name: str, budget: OcrBudget = default_budget) -> Extracted | ExtractionRefused:
    try:
        return extract(content, name, budget)
    except Unreadable as error:
        return ExtractionRefused(error.detail)
    except ImportError as error:
        return ExtractionRefused(f"its parser is not installed ({error.name})", lasting=False)
    except MemoryError:
        return ExtractionRefused("it needs too much memory")
    except RecursionError:
        return ExtractionRefused("it is nested too deeply")


def _load_parsers(requests: IO[bytes]) -> None:
    """Import the HTML parser and read a short page to load the rest, unless a document is already waiting.

    A missing parser is reported when a document needs it.
    """
    with suppress(ImportError):
        importlib.import_module("marchwarden.extraction.webpage")
    if not select.select([requests], [], [], 0)[0]:
        _read(_SAMPLE_PAGE, "page.html")


def main() -> None:
    seconds, memory, idle, ocr_seconds = float(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Libraries that print must not write into the pipe for answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _load_parsers(sys.stdin.buffer)
    serve(sys.stdin.buffer, answers, seconds, idle, ocr_seconds)


if __name__ == "__main__":
    main()
