"""The MCP servers that tests/mcp/child.py can run, by name."""

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
from tests.mcp.scripted import (
    STEPS,
    AnsweringResearcher,
    EndlessResearcher,
    result,
    scripted_server,
    third_party_server,
)


class ExitingResearcher(AnsweringResearcher):
    async def research(self, *args: Any, progress: ProgressSink = ignore_progress) -> ResearchResult:
        await progress(STEPS[0])
        sys.stderr.write("first error\nout of memory\n")
        sys.stderr.flush()
        os._exit(7)


class BlockingResearcher(AnsweringResearcher):
    async def research(self, *args: Any, progress: ProgressSink = ignore_progress) -> ResearchResult:
        await progress(STEPS[0])
        time.sleep(600)  # noqa: ASYNC251 - blocks the event loop on purpose
        raise AssertionError


def write_note() -> None:
    Path(sys.argv[2]).write_text("stopped", encoding="utf-8")


class NotingResearcher(EndlessResearcher):
    """Writes a file when it is cancelled. The second argument of the program is its path."""

    async def research(self, *args: Any, progress: ProgressSink = ignore_progress) -> ResearchResult:
        try:
            return await super().research(*args, progress=progress)
        finally:
            write_note()


class PrintingResearcher(AnsweringResearcher):
    async def research(self, *args: Any, progress: ProgressSink = ignore_progress) -> ResearchResult:
        sys.stdout.write("a stray line on stdout\n")
        sys.stdout.flush()
        os.write(1, b"and one past the buffer\n")
        return await super().research(*args, progress=progress)


class EnvironmentResearcher(AnsweringResearcher):
    """Answers with two variables of its environment."""

    async def research(self, *args: Any, progress: ProgressSink = ignore_progress) -> ResearchResult:
        return result(f"{os.environ.get('GIVEN_KEY')} {os.environ.get('PARENT_KEY')}")


def print_before_serving() -> None:
    sys.stdout.write("Welcome to the researcher!\n{]\n[1, 2]\n" + "[" * 100_000 + "\n")
    sys.stdout.flush()
    serve(scripted_server(PrintingResearcher()))


def serve(server: Server[Any]) -> None:
    anyio.run(serve_stdio, server)


SERVERS: dict[str, Callable[[], None]] = {
    "answers": lambda: serve(scripted_server(AnsweringResearcher())),
    "dies-mid-call": lambda: serve(scripted_server(ExitingResearcher())),
    "hangs-mid-call": lambda: serve(scripted_server(BlockingResearcher())),
    "never-finishes": lambda: serve(scripted_server(NotingResearcher())),
    "prints-garbage": print_before_serving,
    "shows-environment": lambda: serve(scripted_server(EnvironmentResearcher())),
    "breaks-contract": lambda: serve(third_party_server({**result().model_dump(mode="json"), "confidence": "very"})),
}
