"""Start an MCP server as a subprocess and exchange JSON-RPC messages with it, one per line.

Why not the SDK's `stdio_client`: it reads lines of any length, it does not return the exit code and the stderr of a
server that crashes, and it cannot start the process before the SDK has loaded. That takes a second; here the SDK is
imported after the process was started, so that both load in parallel.
"""

import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TextIO

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

from marchwarden.errors import ResearcherUnavailable
from marchwarden.text.sanitize import one_line

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared.message import SessionMessage

    Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]

MAX_MESSAGE_BYTES: Final = 16 << 20
EXIT_SEC: Final = 2.0
STDERR_SEC: Final = 0.2
"""How long to wait for the rest of stderr after the process has exited."""
_STDERR_BYTES: Final = 4096
_CHUNK_BYTES: Final = 1 << 16
_POLL_SEC: Final = 0.01
_INHERITED_VARIABLES: Final = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")


@dataclass(frozen=True)
class StdioTransport:
    """A command that starts an MCP server. The process gets `env` and the few variables every program needs."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    errlog: TextIO | None = None
    max_message_bytes: int = MAX_MESSAGE_BYTES

    @property
    def name(self) -> str:
        return one_line(" ".join(self.argv), 120)

    @asynccontextmanager
    async def connect(self) -> "AsyncIterator[StdioConnection]":
        """Start the process. The connection ends it; if the connection was never used, it is killed here."""
        inherited = {name: os.environ[name] for name in _INHERITED_VARIABLES if name in os.environ}
        try:
            process = await anyio.open_process(list(self.argv), env={**inherited, **self.env}, start_new_session=True)
        except OSError as error:
            raise ResearcherUnavailable(f"{self.name}: {one_line(str(error), 200)}") from error
        try:
            yield StdioConnection(process, self.max_message_bytes, self.errlog)
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                with anyio.CancelScope(shield=True):
                    await process.aclose()


class StdioConnection:
    """Messages to and from one process. `target` is the pair of streams that the SDK's client uses."""

    def __init__(self, process: Process, max_message_bytes: int, errlog: TextIO | None) -> None:
        self.process = process
        self._max_message_bytes = max_message_bytes
        self._errlog = errlog
        self._stderr_tail = bytearray()
        self._returncode: int | None = None
        self._has_ended_early = False
        self._is_closing = False
        self._has_sent_too_much = False
        self._stderr_closed = anyio.Event()
        self.target = self._exchange_messages()

    def failure(self) -> str:
        """Describe what went wrong with the process. Empty if nothing did. Complete once the connection is closed."""
        if self._has_sent_too_much:
            return f"it sent more than {self._max_message_bytes >> 20} MiB in one message"
        if not self._has_ended_early:
            return ""
        ending = "it closed stdout" if self._returncode is None else f"it exited with code {self._returncode}"
        lines = [line for line in self._stderr_tail.decode(errors="replace").splitlines() if line.strip()]
        return f"{ending}: {one_line(lines[-1], 300)}" if lines else ending

    @asynccontextmanager
    async def _exchange_messages(self) -> "AsyncIterator[Streams]":
        from mcp.shared.message import SessionMessage

        process = self.process
        assert process.stdin is not None, "a process is opened with pipes"
        assert process.stdout is not None, "a process is opened with pipes"
        assert process.stderr is not None, "a process is opened with pipes"
        received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
        outgoing, to_send = anyio.create_memory_object_stream[SessionMessage]()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read_stdout, process.stdout, received)
            tasks.start_soon(self._read_stderr, process.stderr)
            tasks.start_soon(_write_stdin, process.stdin, to_send)
            try:
                yield incoming, outgoing
            finally:
                self._is_closing = True
                with anyio.CancelScope(shield=True):
                    outgoing.close()
                    incoming.close()
                    await self._end_process(process)
                tasks.cancel_scope.cancel()

    async def _read_stdout(
        self, stdout: ByteReceiveStream, received: "MemoryObjectSendStream[SessionMessage | Exception]"
    ) -> None:
        """Forward messages. Lines that are not messages, such as stray prints, are ignored."""
        with received, _ignore_closed_pipe():
            try:
                async for line in read_lines(lambda: _receive(stdout), self._max_message_bytes):
                    if message := decode_message(line):
                        await received.send(message)
                self._has_ended_early = not self._is_closing
            except OversizedLine:
                self._has_sent_too_much = True

    async def _read_stderr(self, stderr: ByteReceiveStream) -> None:
        with _ignore_closed_pipe():
            while chunk := await _receive(stderr):
                self._stderr_tail = (self._stderr_tail + chunk)[-_STDERR_BYTES:]
                if self._errlog is not None:
                    self._errlog.write(chunk.decode(errors="replace"))
        self._stderr_closed.set()

    async def _end_process(self, process: Process) -> None:
        """Close stdin, which asks the server to exit, then signal the process and everything it started."""
        assert process.stdin, "a process is opened with pipes"
        with _ignore_closed_pipe(), anyio.move_on_after(EXIT_SEC):
            await process.stdin.aclose()
        if not self._has_sent_too_much and await _has_exited(process):
            self._returncode = process.returncode
        for ending_signal in (signal.SIGTERM, signal.SIGKILL):
            # Also if the process has exited: its children may still be running.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, ending_signal)
            if await _has_exited(process):
                break
        with anyio.move_on_after(STDERR_SEC):
            await self._stderr_closed.wait()
        with _ignore_closed_pipe(), anyio.move_on_after(EXIT_SEC):
            await process.aclose()


class OversizedLine(Exception):
    """The other side sent a line that is too long to keep in memory."""


async def read_lines(receive: Callable[[], Awaitable[bytes]], max_bytes: int) -> AsyncIterator[bytes]:
    """Yield the complete lines of a byte stream until `receive` returns b"". Raises `OversizedLine`."""
    buffer = bytearray()
    while chunk := await receive():
        searched = len(buffer)
        buffer += chunk
        while (end := buffer.find(b"\n", searched)) >= 0:
            if end > max_bytes:
                raise OversizedLine
            yield bytes(buffer[:end])
            del buffer[: end + 1]
            searched = 0
        if len(buffer) > max_bytes:
            raise OversizedLine


def decode_message(line: bytes) -> "SessionMessage | None":
    """Return the JSON-RPC message in a line, or None.

    The standard library parses it because it accepts lone surrogates. The server can then reject the argument in a
    reply, whereas a parse error would leave the request unanswered.
    """
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(json.loads(line), by_name=False))
    except (ValueError, RecursionError):
        return None


def encode_message(message: "SessionMessage") -> bytes:
    return message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


def _ignore_closed_pipe() -> suppress:
    return suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)


async def _receive(stream: ByteReceiveStream) -> bytes:
    try:
        return await stream.receive(_CHUNK_BYTES)
    except anyio.EndOfStream:
        return b""


async def _write_stdin(stdin: ByteSendStream, to_send: "MemoryObjectReceiveStream[SessionMessage]") -> None:
    with to_send, _ignore_closed_pipe():
        async for message in to_send:
            await stdin.send(encode_message(message))


async def _has_exited(process: Process) -> bool:
    """Wait up to `EXIT_SEC`. Polls, because `wait()` also waits for all processes that inherited the pipes."""
    with anyio.move_on_after(EXIT_SEC):
        while process.returncode is None:  # noqa: ASYNC110 - see above
            await anyio.sleep(_POLL_SEC)
    return process.returncode is not None
