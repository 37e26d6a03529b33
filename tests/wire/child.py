"""A stdio researcher that behaves as its first argument says. Run as a program, never imported by a test."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
from mcp.server import Server

sys.path.insert(0, str(Path(__file__).parents[2]))

from marchwarden.contract import ResearchResult
from marchwarden.protocols import ProgressSink, quiet
from marchwarden.wire.stdio_server import serve_stdio
from tests.wire.scripted import STEPS, Answering, Endless, foreign, result, server_of


class DyingMidCall(Answering):
    async def research(self, *args: Any, progress: ProgressSink = quiet) -> ResearchResult:
        await progress(STEPS[0])
        sys.stderr.write("first trouble\nout of memory in the reading room\n")
        sys.stderr.flush()
        os._exit(7)


class DeafMidCall(Answering):
    async def research(self, *args: Any, progress: ProgressSink = quiet) -> ResearchResult:
        await progress(STEPS[0])
        time.sleep(600)  # noqa: ASYNC251 - blocks the event loop on purpose
        raise AssertionError


def leave_note() -> None:
    Path(sys.argv[2]).write_text("stopped", encoding="utf-8")


class Noting(Endless):
    """Leaves a note where the second argument says when it is cancelled."""

    async def research(self, *args: Any, progress: ProgressSink = quiet) -> ResearchResult:
        try:
            return await super().research(*args, progress=progress)
        finally:
            leave_note()


class Printing(Answering):
    async def research(self, *args: Any, progress: ProgressSink = quiet) -> ResearchResult:
        sys.stdout.write("a stray line on stdout\n")
        sys.stdout.flush()
        os.write(1, b"and a rude one\n")
        return await super().research(*args, progress=progress)


class Telling(Answering):
    """Answers with what it sees of the environment."""

    async def research(self, *args: Any, progress: ProgressSink = quiet) -> ResearchResult:
        return result(f"{os.environ.get('GIVEN_KEY')} {os.environ.get('KEPT_KEY')}")


def shout() -> None:
    """100 MB in one line, whatever was asked."""
    sys.stdin.readline()
    sys.stdout.write('{"jsonrpc": "2.0", "id": 1, "result": {"x": "')
    for _ in range(100):
        sys.stdout.write("x" * 1_000_000)
    sys.stdout.write('"}}\n')
    sys.stdout.flush()


def garbage_first() -> None:
    sys.stdout.write("Welcome to the researcher!\n{]\n[1, 2]\n" + "[" * 100_000 + "\n")
    sys.stdout.flush()
    serve(server_of(Printing()))


def serve(server: Server[Any]) -> None:
    anyio.run(serve_stdio, server)


BEHAVIOURS: dict[str, Callable[[], None]] = {
    "answers": lambda: serve(server_of(Answering())),
    "dies-at-start": lambda: sys.exit("ModuleNotFoundError: no module named 'sense'"),
    "dies-mid-call": lambda: serve(server_of(DyingMidCall())),
    "hangs-at-start": lambda: time.sleep(600),
    "hangs-mid-call": lambda: serve(server_of(DeafMidCall())),
    "never-finishes": lambda: serve(server_of(Noting())),
    "prints-garbage": garbage_first,
    "shows-environment": lambda: serve(server_of(Telling())),
    "shouts": shout,
    "lies": lambda: serve(foreign({**result().model_dump(mode="json"), "confidence": "very"})),
}

if __name__ == "__main__":
    BEHAVIOURS[sys.argv[1]]()
