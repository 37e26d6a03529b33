"""An HTTP server that does exactly what it is told, politely or not. Knows no pages and no faults.

asyncio itself and not anyio: only its transports let a connection be torn instead of closed.
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

LONGEST_WAIT: Final = 120.0
STOPPING_SECONDS: Final = 10.0
LARGEST_REQUEST: Final = 1 << 20

_RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Request:
    """One request as it came in. `site` is the listener it reached, whatever host it asked for."""

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
    """An answer as it should be: the length is right and the connection stays open."""

    status: int = 200
    content: bytes = field(default=b"", repr=False)
    headers: tuple[tuple[str, str], ...] = ()

    def written(self, *, body: bool = True) -> bytes:
        length = () if self.status in (204, 304) else (("Content-Length", str(len(self.content))),)
        return head(self.status, (*self.headers, *length)) + (self.content if body else b"")


def head(status: int, headers: Iterable[tuple[str, str]] = ()) -> bytes:
    """A status line and headers. Tavily's 432 and 433 have no name, and need none."""
    known = status in HTTPStatus.__members__.values()
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase if known else ''}", *(f"{n}: {v}" for n, v in headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class Wire:
    """One connection in the hands of a behaviour: bytes when it likes, and an end as rude as it likes."""

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
        await asyncio.sleep(LONGEST_WAIT)

    async def reset(self) -> None:
        # What was sent is given time to leave: a reset throws away whatever still waits.
        await asyncio.sleep(0.05)
        self._writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self._writer.transport.abort()


Behaviour = Callable[[Wire], Awaitable[None]]
Handler = Callable[[Request], Reply | Behaviour]


@dataclass(frozen=True)
class Address:
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class Server:
    """Listens for several sites at once in a thread of its own; every request and connection is kept."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.connections: list[str] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="world", daemon=True)
        self._listeners: list[asyncio.Server] = []
        self._talking: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(STOPPING_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOPPING_SECONDS)
        self._loop.close()

    def listen(self, site: str, handler: Handler, host: str = "127.0.0.1") -> Address:
        """Open a door on any free port. Where only 127.0.0.1 is there (macOS), the port alone tells sites apart."""
        return asyncio.run_coroutine_threadsafe(self._listen(site, handler, host), self._loop).result(STOPPING_SECONDS)

    async def _listen(self, site: str, handler: Handler, host: str) -> Address:
        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections.append(site)
            await self._talk(site, handler, reader, writer)

        try:
            listener = await asyncio.start_server(talk, host, 0)
        except OSError:
            listener = await asyncio.start_server(talk, "127.0.0.1", 0)
        self._listeners.append(listener)
        found = listener.sockets[0].getsockname()
        return Address(found[0], found[1])

    async def _stop(self) -> None:
        for listener in self._listeners:
            listener.close()
        for task in self._talking:
            task.cancel()
        await asyncio.gather(*self._talking, return_exceptions=True)
        await asyncio.gather(*(listener.wait_closed() for listener in self._listeners))

    async def _talk(
        self, site: str, handler: Handler, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._talking.add(task)
        # The other side may go at any moment, and the world may be stopped at any moment: neither is news here.
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            try:
                async with asyncio.timeout(LONGEST_WAIT):
                    while (request := await _read(site, reader)) and await self._answer(request, handler, Wire(writer)):
                        pass
            except asyncio.CancelledError:
                writer.transport.abort()
            finally:
                self._talking.discard(task)
                writer.close()
                await writer.wait_closed()

    async def _answer(self, request: Request, handler: Handler, wire: Wire) -> bool:
        """Whether the connection may go on."""
        self.requests.append(request)
        answer = handler(request)
        if not isinstance(answer, Reply):
            await answer(wire)
            return False
        await wire.send(answer.written(body=request.method != "HEAD"))
        return request.headers.get("connection", "").casefold() != "close"


async def _read(site: str, reader: asyncio.StreamReader) -> Request | None:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, *_ = [*lines[0].split(" "), "", ""]
    named = (line.split(":", 1) for line in lines[1:] if ":" in line)
    headers = {name.strip().casefold(): value.strip() for name, value in named}
    length = headers.get("content-length", "0")
    if not target or not length.isdigit() or int(length) > LARGEST_REQUEST:
        return None
    return Request(site, method, target, headers, await reader.readexactly(int(length)))
