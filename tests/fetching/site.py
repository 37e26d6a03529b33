"""A website on loopback, built on raw sockets. It sends the bytes a test specifies and records every request."""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import anyio.abc
import httpcore2
from anyio.streams.tls import TLSListener

from marchwarden.fetching import AllowedHosts, FetchSettings


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""


Handler = Callable[[Request, anyio.abc.ByteStream], Awaitable[None]]
Reply = bytes | Handler


@dataclass
class Site:
    port: int
    pages: dict[str, Reply | list[Reply]]
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    active: int = 0
    max_active: int = 0

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def request_count(self, path: str) -> int:
        return sum(request.path == path for request in self.requests)

    def settings(self, hosts: Sequence[str] = ("127.0.0.1",), **changes: object) -> FetchSettings:
        allowed = AllowedHosts.parse(",".join(f"{host}:{self.port}" for host in hosts))
        return FetchSettings(**{"allowed": allowed, "host_delay": 0.0, "retry_pause": 0.01} | changes)  # type: ignore[arg-type] # any field of FetchSettings

    async def serve(self, stream: anyio.abc.ByteStream) -> None:
        self.connections += 1
        async with stream:
            try:
                while True:
                    await self._respond(stream)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return

    async def _respond(self, stream: anyio.abc.ByteStream) -> None:
        request = await _read_request(stream)
        self.requests.append(request)
        response = self.pages.get(request.path, reply(404, b"nothing here"))
        if isinstance(response, list):
            response = response.pop(0) if len(response) > 1 else response[0]
        self.active += 1
        self.max_active = max(self.max_active, self.active)
        try:
            if isinstance(response, bytes):
                await stream.send(response)
            else:
                await response(request, stream)
        finally:
            self.active -= 1


def reply(status: int = 200, body: bytes = b"", **headers: str) -> bytes:
    fields = {"Content-Length": str(len(body))} | {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} OK\r\n{head}\r\n".encode("latin-1") + body


def page(text: str = "a page", **headers: str) -> bytes:
    return reply(200, text.encode(), **{"Content_Type": "text/html; charset=utf-8"} | headers)


async def hang(_request: Request, _stream: anyio.abc.ByteStream) -> None:
    await anyio.sleep_forever()


async def send_forever(_request: Request, stream: anyio.abc.ByteStream) -> None:
    await stream.send(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        await stream.send(b"x" * 65536)


async def reset(_request: Request, stream: anyio.abc.ByteStream) -> None:
    await stream.aclose()


async def _read_request(stream: anyio.abc.ByteStream) -> Request:
    raw = b""
    while b"\r\n\r\n" not in raw:
        raw += await stream.receive()
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += await stream.receive()
    method, path, _ = first.split(" ")
    return Request(method, path, headers, body)


@asynccontextmanager
async def site(
    pages: Mapping[str, Reply | list[Reply]] | None = None,
    address: str = "127.0.0.1",
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[Site]:
    listener = await anyio.create_tcp_listener(local_host=address, local_port=0)
    async with listener, anyio.create_task_group() as group:
        served = Site(listener.extra(anyio.abc.SocketAttribute.local_port), dict(pages or {}))
        group.start_soon((TLSListener(listener, tls) if tls else listener).serve, served.serve)
        yield served
        group.cancel_scope.cancel()


class RedirectingNetwork(httpcore2.AsyncNetworkBackend):
    """A network that connects every address to one local site and records the addresses dialled."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.dialled: list[str] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        self.dialled.append(host)
        return await httpcore2.AnyIOBackend().connect_tcp("127.0.0.1", self.port, timeout)
