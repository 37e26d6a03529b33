"""The process that reads dangerous documents: `python -m marchwarden.extraction.worker SECONDS BYTES IDLE_SECONDS`.

Reads a name and a document from standard input, answers on standard output, and again, until the input ends or none
comes for too long. It limits its own memory; whoever started it limits its time and kills it.
"""

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
from marchwarden.extraction.messages import Refused, packed, receive, send

_GRACE_SECONDS: Final = 2
_PAGE: Final = b"<html><body><article><p>A short page, read for what reading it loads.</p></article></body></html>"


def serve(requests: IO[bytes], answers: IO[bytes], seconds: float, idle: float) -> None:
    while True:
        signal.alarm(math.ceil(idle))
        try:
            name, content = receive(requests).decode(), receive(requests)
        except ConnectionError:
            return
        # Should whoever started us be gone, nobody is left to kill us: the alarm's default action does.
        signal.alarm(math.ceil(seconds) + _GRACE_SECONDS)
        send(answers, packed(_read(content, name)))


def _read(content: bytes, name: str) -> Extracted | Refused:
    try:
        return extract(content, name)
    except Unreadable as error:
        return Refused(error.detail)
    except ImportError as error:
        return Refused(f"its reader is not installed ({error.name})", lasting=False)
    except MemoryError:
        return Refused("it needs too much memory")
    except RecursionError:
        return Refused("it is nested too deeply")


def _load_readers(requests: IO[bytes]) -> None:
    """What nearly every page needs, and what short ones need besides, unless a document waits for us already.

    A missing reader is told with its document.
    """
    with suppress(ImportError):
        pass
    if not select.select([requests], [], [], 0)[0]:
        _read(_PAGE, "page.html")


def main() -> None:
    seconds, memory, idle = float(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # A library that prints must not speak on the answers' pipe.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _load_readers(sys.stdin.buffer)
    serve(sys.stdin.buffer, answers, seconds, idle)


if __name__ == "__main__":
    main()
