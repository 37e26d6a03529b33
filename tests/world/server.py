"""An HTTP server for well-formed and faulty responses. Does not know pages or faults.

Why not anyio: only asyncio transports can reset a connection instead of closing it.
"""

import asyncio
import contextlib
import socket
import struct
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from types import TracebackType
from typing import Final, Self
from urllib.parse import parse_qs, unquote, urlsplit

MAX_WAIT: Final = 120.0
STOP_SECONDS: Final = 10.0
MAX_REQUEST_BYTES: Final = 1 << 20

_RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Request:
    """A received request. `site` is the listener it reached, independent of the Host header."""

    site: str
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = field(default=b"", repr=False)
    at: float = field(default_factory=time.monotonic, compare=False)

    @property
    def path(self) -> str:
        return unquote(urlsplit(self.target).path)

    @property
    def query(self) -> dict[str, str]:
        return {name: values[-1] for name, values in parse_qs(urlsplit(self.target).query).items()}


@dataclass(frozen=True)
class Reply:
    """A well-formed response: the length is right and the connection stays open."""

    status: int = 200
    content: bytes = field(default=b"", repr=False)
    headers: tuple[tuple[str, str], ...] = ()

    def to_bytes(self, *, body: bool = True) -> bytes:
        length = () if self.status in (204, 304) else (("Content-Length", str(len(self.content))),)
        return head(self.status, (*self.headers, *length)) + (self.content if body else b"")


def head(status: int, headers: Iterable[tuple[str, str]] = ()) -> bytes:
    """A status line and headers. Tavily's 432 and 433 have no reason phrase."""
    known = status in HTTPStatus.__members__.values()
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase if known else ''}", *(f"{n}: {v}" for n, v in headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class Connection:
    """A connection controlled by a behaviour, which may send arbitrary bytes, hang or reset it."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def send(self, content: bytes) -> None:
        self._writer.write(content)
        await self._writer.drain()

    async def drip(self, content: bytes, every: float = 1.0) -> None:
        for at in range(len(content)):
            await self.send(content[at : at + 1])
            await asyncio.sleep(every)

    async def hang(self) -> None:
        await asyncio.sleep(MAX_WAIT)

    async def reset(self) -> None:
        # Give sent bytes time to leave: a reset discards unsent data.
        await asyncio.sleep(0.05)
        self._writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self._writer.transport.abort()


Behaviour = Callable[[Connection], Awaitable[None]]
Handler = Callable[[Request], Reply | Behaviour]


@dataclass(frozen=True)
class Address:
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class Server:
    """Serves several sites in a thread of its own. Records every request and connection."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.connections: list[str] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="world", daemon=True)
        self._listeners: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(STOP_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOP_SECONDS)
        self._loop.close()

    def listen(self, site: str, handler: Handler, host: str = "127.0.0.1") -> Address:
        """Listen on a free port. If only 127.0.0.1 exists (macOS), sites differ by port alone."""
        return asyncio.run_coroutine_threadsafe(self._listen(site, handler, host), self._loop).result(STOP_SECONDS)

    async def _listen(self, site: str, handler: Handler, host: str) -> Address:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections.append(site)
            await self._serve(site, handler, reader, writer)

        try:
            listener = await asyncio.start_server(serve, host, 0)
        except OSError:
            listener = await asyncio.start_server(serve, "127.0.0.1", 0)
        self._listeners.append(listener)
        found = listener.sockets[0].getsockname()
        return Address(found[0], found[1])

    async def _stop(self) -> None:
        for listener in self._listeners:
            listener.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(listener.wait_closed() for listener in self._listeners))

    async def _serve(
        self, site: str, handler: Handler, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        # The client may disconnect and the world may stop at any time. Neither is an error.
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            try:
                async with asyncio.timeout(MAX_WAIT):
                    while (request := await _read(site, reader)) and await self._answer(
                        request, handler, Connection(writer)
                    ):
                        pass
            except asyncio.CancelledError:
                writer.transport.abort()
            finally:
                self._tasks.discard(task)
                writer.close()
                await writer.wait_closed()

    async def _answer(self, request: Request, handler: Handler, connection: Connection) -> bool:
        """Answer a request. Returns whether the connection stays open."""
        self.requests.append(request)
        answer = handler(request)
        if not isinstance(answer, Reply):
            await answer(connection)
            return False
        await connection.send(answer.to_bytes(body=request.method != "HEAD"))
        return request.headers.get("connection", "").casefold() != "close"


async def _read(site: str, reader: asyncio.StreamReader) -> Request | None:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, *_ = [*lines[0].split(" "), "", ""]
    named = (line.split(":", 1) for line in lines[1:] if ":" in line)
    headers = {name.strip().casefold(): value.strip() for name, value in named}
    length = headers.get("content-length", "0")
    if not target or not length.isdigit() or int(length) > MAX_REQUEST_BYTES:
        return None
    return Request(site, method, target, headers, await reader.readexactly(int(length)))
