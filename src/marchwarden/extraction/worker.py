"""The process that reads dangerous documents: `python -m marchwarden.extraction.worker SECONDS BYTES`.

Reads a name and a document from standard input, answers on standard output, and again, until the input ends. It limits
its own memory; whoever started it limits its time and kills it.
"""

import math
import os
import resource
import signal
import sys
from contextlib import suppress
from typing import IO, Final

from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.formats import extract
from marchwarden.extraction.frames import Refused, packed, receive, send

_GRACE_SECONDS: Final = 2


def serve(requests: IO[bytes], answers: IO[bytes], seconds: float) -> None:
    while True:
        try:
            name, content = receive(requests).decode(), receive(requests)
        except ConnectionError:
            return
        # Should whoever started us be gone, nobody is left to kill us: the alarm's default action does.
        signal.alarm(math.ceil(seconds) + _GRACE_SECONDS)
        send(answers, packed(_read(content, name)))
        signal.alarm(0)


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


def _load_readers() -> None:
    """What nearly every document needs, before the first one comes; a missing reader is told with its document."""
    with suppress(ImportError):
        import marchwarden.extraction.webpage  # noqa: F401, PLC0415 - imported for what importing it loads


def main() -> None:
    seconds, memory = float(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # A library that prints must not speak on the answers' pipe.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _load_readers()
    serve(sys.stdin.buffer, answers, seconds)


if __name__ == "__main__":
    main()
