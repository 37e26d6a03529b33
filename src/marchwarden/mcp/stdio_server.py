"""Serve one client over stdin and stdout of this process. Does not know the tool or a researcher."""

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
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError

from marchwarden.mcp.asgi import wait_for_stop_signal
from marchwarden.mcp.request_lines import OversizedRequest, read_requests
from marchwarden.mcp.stdio import decode_message, encode_message

MAX_REQUEST_BYTES: Final = 1 << 20
FLUSH_SEC: Final = 2.0
_CHUNK_BYTES: Final = 1 << 16
_NOT_JSON_RPC: Final = JSONRPCError(
    jsonrpc="2.0", id=None, error=ErrorData(code=PARSE_ERROR, message="each line must be one JSON-RPC message")
)


async def serve_stdio(server: Server[Any]) -> None:
    """Serve until the client closes stdin or a signal arrives. Either stops the active runs."""
    with _take_over_stdio() as (reading, writing):
        async with anyio.create_task_group() as tasks:
            received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
            outgoing, to_send = anyio.create_memory_object_stream[SessionMessage]()
            written = anyio.Event()
            tasks.start_soon(_stop_on_signal, tasks.cancel_scope)
            tasks.start_soon(_read, reading, received, outgoing.clone())
            tasks.start_soon(_write, writing, to_send, tasks.cancel_scope, written)
            await server.run(incoming, outgoing, server.create_initialization_options())
            with anyio.move_on_after(FLUSH_SEC):
                await written.wait()
            tasks.cancel_scope.cancel()


async def _stop_on_signal(scope: anyio.CancelScope) -> None:
    await wait_for_stop_signal()
    scope.cancel()


@contextmanager
def _take_over_stdio() -> Iterator[tuple[int, int]]:
    """Yield private copies of stdin and stdout. Meanwhile, stray prints go to stderr and stray reads get no input."""
    sys.stdout.flush()
    reading, writing, empty = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.dup2(2, 1)
    os.close(empty)
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
        # Wait in the event loop, not in a thread: no signal can end a thread that is blocked in a read.
        with suppress(PermissionError):  # A regular file cannot be polled and never blocks.
            await anyio.wait_readable(descriptor)
        return os.read(descriptor, _CHUNK_BYTES)

    with received, outgoing, suppress(anyio.BrokenResourceError):
        async for line in read_requests(receive, MAX_REQUEST_BYTES):
            if isinstance(line, OversizedRequest):
                await outgoing.send(SessionMessage(_too_large(line)))
            elif line.strip():
                message = decode_message(line)
                await (received.send(message) if message else outgoing.send(SessionMessage(_NOT_JSON_RPC)))


def _too_large(request: OversizedRequest) -> JSONRPCError:
    error = ErrorData(code=INVALID_REQUEST, message=f"a request may have at most {MAX_REQUEST_BYTES >> 20} MiB")
    return JSONRPCError(jsonrpc="2.0", id=request.id, error=error)


async def _write(
    descriptor: int,
    to_send: MemoryObjectReceiveStream[SessionMessage],
    scope: anyio.CancelScope,
    written: anyio.Event,
) -> None:
    try:
        async for message in to_send:
            await _write_all(descriptor, encode_message(message))
    except BrokenPipeError:
        scope.cancel()  # The client has disconnected.
    finally:
        to_send.close()
        written.set()


async def _write_all(descriptor: int, line: bytes) -> None:
    remaining = memoryview(line)
    while remaining:
        with suppress(PermissionError):
            await anyio.wait_writable(descriptor)
        # A writable pipe accepts this much without blocking; more could block the event loop.
        remaining = remaining[os.write(descriptor, remaining[: select.PIPE_BUF]) :]
