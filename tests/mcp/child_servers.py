"""What children that speak MCP do, by name. Imported by tests/mcp/child.py, which is run as a program."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
from mcp.server import Server

from marchwarden.contract import ResearchResult
from marchwarden.mcp.stdio_server import serve_stdio
from marchwarden.protocols import ProgressSink, ignore_progress
from tests.mcp.scripted import STEPS, Answering, Endless, foreign, result, server_of


class DyingMidCall(Answering):
    async def research(self, *args: Any, progress: ProgressSink = ignore_progress) -> ResearchResult:
        await progress(STEPS[0])
        sys.stderr.write("first trouble\nout of memory in the reading room\n")
        sys.stderr.flush()
        os._exit(7)


class DeafMidCall(Answering):
    async def research(self, *args: Any, progress: ProgressSink = ignore_progress) -> ResearchResult:
        await progress(STEPS[0])
        time.sleep(600)  # noqa: ASYNC251 - blocks the event loop on purpose
        raise AssertionError


def leave_note() -> None:
    Path(sys.argv[2]).write_text("stopped", encoding="utf-8")


class Noting(Endless):
    """Leaves a note where the second argument says when it is cancelled."""

    async def research(self, *args: Any, progress: ProgressSink = ignore_progress) -> ResearchResult:
        try:
            return await super().research(*args, progress=progress)
        finally:
            leave_note()


class Printing(Answering):
    async def research(self, *args: Any, progress: ProgressSink = ignore_progress) -> ResearchResult:
        sys.stdout.write("a stray line on stdout\n")
        sys.stdout.flush()
        os.write(1, b"and a rude one\n")
        return await super().research(*args, progress=progress)


class Telling(Answering):
    """Answers with what it sees of the environment."""

    async def research(self, *args: Any, progress: ProgressSink = ignore_progress) -> ResearchResult:
        return result(f"{os.environ.get('GIVEN_KEY')} {os.environ.get('KEPT_KEY')}")


def garbage_first() -> None:
    sys.stdout.write("Welcome to the researcher!\n{]\n[1, 2]\n" + "[" * 100_000 + "\n")
    sys.stdout.flush()
    serve(server_of(Printing()))


def serve(server: Server[Any]) -> None:
    anyio.run(serve_stdio, server)


SPEAKING: dict[str, Callable[[], None]] = {
    "answers": lambda: serve(server_of(Answering())),
    "dies-mid-call": lambda: serve(server_of(DyingMidCall())),
    "hangs-mid-call": lambda: serve(server_of(DeafMidCall())),
    "never-finishes": lambda: serve(server_of(Noting())),
    "prints-garbage": garbage_first,
    "shows-environment": lambda: serve(server_of(Telling())),
    "lies": lambda: serve(foreign({**result().model_dump(mode="json"), "confidence": "very"})),
}
