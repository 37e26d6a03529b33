"""Child: the conversation with a process of our own making over its standard input and output.

Bounds what is read of it and keeps the last words it wrote to stderr. Knows no tool and no contract.
"""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final, TextIO

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from marchwarden.mcp.framing import OversizedLine, line_of, lines, message_in
from marchwarden.text.sanitize import one_line

LEAVING_SEC: Final = 2.0
LAST_WORDS_SEC: Final = 0.2
_LAST_WORDS: Final = 4096
_CHUNK: Final = 1 << 16
_POLL_SEC: Final = 0.01

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


class StdioConnection:
    """One started process. `complaint` says what was seen to go wrong with it, once the conversation is over."""

    def __init__(self, process: Process, largest_answer: int, errlog: TextIO | None) -> None:
        self.process = process
        self._largest_answer = largest_answer
        self._errlog = errlog
        self._last_words = bytearray()
        self._returncode: int | None = None
        self._left_early = False
        self._parting = False
        self._too_much = False
        self._silent = anyio.Event()
        self.target = self._conversation()

    def complaint(self) -> str:
        if self._too_much:
            return f"it sent more than {self._largest_answer >> 20} MiB in one message"
        if not self._left_early:
            return ""
        ending = "it closed its output" if self._returncode is None else f"it ended with exit code {self._returncode}"
        said = [line for line in self._last_words.decode(errors="replace").splitlines() if line.strip()]
        return f"{ending}, saying: {one_line(said[-1], 300)}" if said else ending

    @asynccontextmanager
    async def _conversation(self) -> AsyncIterator[Streams]:
        process = self.process
        assert process.stdin is not None, "a process is opened with pipes"
        assert process.stdout is not None, "a process is opened with pipes"
        assert process.stderr is not None, "a process is opened with pipes"
        received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
        outgoing, to_send = anyio.create_memory_object_stream[SessionMessage]()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._listen, process.stdout, received)
            tasks.start_soon(self._remember, process.stderr)
            tasks.start_soon(_speak, process.stdin, to_send)
            try:
                yield incoming, outgoing
            finally:
                self._parting = True
                with anyio.CancelScope(shield=True):
                    outgoing.close()
                    incoming.close()
                    await self._part_from(process)
                tasks.cancel_scope.cancel()

    async def _listen(
        self, stdout: ByteReceiveStream, received: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        """Pass its messages on. A line that is no message is passed over: somebody's stray print."""
        with received, _unless_broken():
            try:
                async for line in lines(lambda: _some(stdout), self._largest_answer):
                    if message := message_in(line):
                        await received.send(message)
                self._left_early = not self._parting
            except OversizedLine:
                self._too_much = True

    async def _remember(self, stderr: ByteReceiveStream) -> None:
        with _unless_broken():
            while chunk := await _some(stderr):
                self._last_words = (self._last_words + chunk)[-_LAST_WORDS:]
                if self._errlog is not None:
                    self._errlog.write(chunk.decode(errors="replace"))
        self._silent.set()

    async def _part_from(self, process: Process) -> None:
        """Close its input, which asks it to leave; then make it leave, with everything it started."""
        assert process.stdin, "a process is opened with pipes"
        with _unless_broken(), anyio.move_on_after(LEAVING_SEC):
            await process.stdin.aclose()
        if not self._too_much and await _gone(process):
            self._returncode = process.returncode
        for last_resort in (signal.SIGTERM, signal.SIGKILL):
            # Also when it is gone: what it started may not be.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, last_resort)
            if await _gone(process):
                break
        with anyio.move_on_after(LAST_WORDS_SEC):
            await self._silent.wait()
        with _unless_broken(), anyio.move_on_after(LEAVING_SEC):
            await process.aclose()


def _unless_broken() -> suppress:
    return suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)


async def _some(stream: ByteReceiveStream) -> bytes:
    try:
        return await stream.receive(_CHUNK)
    except anyio.EndOfStream:
        return b""


async def _speak(stdin: ByteSendStream, to_send: MemoryObjectReceiveStream[SessionMessage]) -> None:
    with to_send, _unless_broken():
        async for message in to_send:
            await stdin.send(line_of(message))


async def _gone(process: Process) -> bool:
    """Whether it ended in time. Polled, because waiting for it also waits for whoever inherited its pipes."""
    with anyio.move_on_after(LEAVING_SEC):
        while process.returncode is None:  # noqa: ASYNC110 - see above
            await anyio.sleep(_POLL_SEC)
    return process.returncode is not None
