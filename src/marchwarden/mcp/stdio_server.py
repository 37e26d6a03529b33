"""Stdio server: one conversation over this process's standard input and output. Knows no tool and no researcher."""

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import Server
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError

from marchwarden.mcp.signals import stop_signal
from marchwarden.mcp.stdio import OversizedLine, decode_message, encode_message, read_lines

LARGEST_REQUEST: Final = 1 << 20
LAST_WORDS_SEC: Final = 2.0
_CHUNK: Final = 1 << 16
_NOT_JSON_RPC: Final = JSONRPCError(
    jsonrpc="2.0", id=None, error=ErrorData(code=PARSE_ERROR, message="each line must be one JSON-RPC message")
)


async def serve_stdio(server: Server[Any]) -> None:
    """Serve until the caller closes our standard input or a signal asks to stop; either ends the work in hand."""
    with _claimed_standard_streams() as (reading, writing):
        async with anyio.create_task_group() as tasks:
            received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
            outgoing, to_send = anyio.create_memory_object_stream[SessionMessage]()
            written = anyio.Event()
            tasks.start_soon(_stop_on_signal, tasks.cancel_scope)
            tasks.start_soon(_read, reading, received, outgoing.clone())
            tasks.start_soon(_write, writing, to_send, tasks.cancel_scope, written)
            await server.run(incoming, outgoing, server.create_initialization_options())
            with anyio.move_on_after(LAST_WORDS_SEC):
                await written.wait()
            tasks.cancel_scope.cancel()


async def _stop_on_signal(scope: anyio.CancelScope) -> None:
    await stop_signal()
    scope.cancel()


@contextmanager
def _claimed_standard_streams() -> Iterator[tuple[int, int]]:
    """The wire's own descriptors. Meanwhile a stray print goes to stderr and a stray read finds nothing."""
    sys.stdout.flush()
    reading, writing, nothing = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        yield reading, writing
    finally:
        sys.stdout.flush()
        os.dup2(reading, 0)
        os.dup2(writing, 1)
        os.close(reading)
        os.close(writing)


async def _read(
    descriptor: int,
    received: MemoryObjectSendStream[SessionMessage | Exception],
    outgoing: MemoryObjectSendStream[SessionMessage],
) -> None:
    async def receive() -> bytes:
        # Waiting in the event loop and not in a thread: a thread stuck in a read would outlive every signal.
        with suppress(PermissionError):  # a plain file cannot be waited for and never makes us wait
            await anyio.wait_readable(descriptor)
        return os.read(descriptor, _CHUNK)

    with received, outgoing, suppress(OversizedLine, anyio.BrokenResourceError):
        async for line in read_lines(receive, LARGEST_REQUEST):
            if not line.strip():
                continue
            message = decode_message(line)
            await (received.send(message) if message else outgoing.send(SessionMessage(_NOT_JSON_RPC)))


async def _write(
    descriptor: int,
    to_send: MemoryObjectReceiveStream[SessionMessage],
    scope: anyio.CancelScope,
    written: anyio.Event,
) -> None:
    try:
        async for message in to_send:
            await _write_whole(descriptor, encode_message(message))
    except BrokenPipeError:
        scope.cancel()  # nobody reads our answers any more
    finally:
        to_send.close()
        written.set()


async def _write_whole(descriptor: int, line: bytes) -> None:
    left = memoryview(line)
    while left:
        with suppress(PermissionError):
            await anyio.wait_writable(descriptor)
        # A writable pipe takes this much without blocking; more could stop the event loop.
        left = left[os.write(descriptor, left[: select.PIPE_BUF]) :]
