"""One request and its answer over connections that live as long as one errand. Knows HTTP, no politeness.

Nothing outlives the errand: no cookie, no connection, no event loop.
"""

import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

import anyio
import httpcore2

from marchwarden.errors import SourceError
from marchwarden.fetching.body import Body
from marchwarden.fetching.retry import TransientError
from marchwarden.fetching.urls import Url

_CLOSING_SECONDS: Final = 1.0
_FINISHING_SECONDS: Final = 1.0
_LARGEST_UNWANTED: Final = 64 << 10
_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


class Incoming:
    """An answer whose head has arrived. Header names are in lower case; repeated ones are joined."""

    def __init__(self, host: str, response: httpcore2.Response) -> None:
        self.host = host
        self.status = response.status
        self.headers = _joined(response.headers)
        self._response = response

    async def body(self, largest: int) -> bytes:
        """The whole decoded body; one larger than `largest` is refused."""
        if _declared(self.headers) > largest:
            raise self._too_large(largest)
        body = Body(self.headers.get("content-encoding", ""), largest)
        async with aclosing(self._response.aiter_stream()) as chunks:
            async for chunk in chunks:
                if not body.take(chunk):
                    raise self._too_large(largest)
        if not body.complete:
            raise SourceError(f"the page of {self.host} ended before its end")
        return body.content

    async def beginning(self, largest: int) -> bytes:
        """The decoded body, cut at `largest`."""
        body = Body(self.headers.get("content-encoding", ""), largest)
        async with aclosing(self._response.aiter_stream()) as chunks:
            async for chunk in chunks:
                if not body.take(chunk):
                    break
        return body.content

    async def finish(self) -> None:
        """Read a body nobody wants, if it is short: the connection can then be used again."""
        read = 0
        with anyio.move_on_after(_FINISHING_SECONDS), suppress(httpcore2.NetworkError, httpcore2.ProtocolError):
            async with aclosing(self._response.aiter_stream()) as chunks:
                async for chunk in chunks:
                    read += len(chunk)
                    if read > _LARGEST_UNWANTED:
                        break

    def raise_if_passing(self) -> None:
        """Some refusals are only for now."""
        if self.status in _PASSING:
            after = retry_after(self.headers)
            asked = "" if after is None else f" and asks to wait {after:.0f} s"
            raise TransientError(f"{self.host} answered {described(self.status)}{asked}", after)

    def _too_large(self, largest: int) -> SourceError:
        return SourceError(f"the page of {self.host} is larger than {largest / (1 << 20):g} MiB")


class Connections:
    """The connections of one errand, over a network of the caller's choice.

    `tls` is called when https is met: reading the machine's certificates takes as long as a fast page.
    """

    def __init__(self, network: httpcore2.AsyncNetworkBackend, tls: Callable[[], ssl.SSLContext]) -> None:
        self._network = _Accounted(network)
        self._tls = tls
        self._pools: dict[str, httpcore2.AsyncConnectionPool] = {}

    @asynccontextmanager
    async def send(
        self, method: str, target: Url, headers: Mapping[str, str], content: bytes | None = None
    ) -> AsyncIterator[Incoming]:
        """Send a request; whatever goes wrong until the end of the block leaves as `SourceError`."""
        url = httpcore2.URL(
            scheme=target.scheme.encode(), host=target.host.encode(), port=target.port, target=target.path.encode()
        )
        fields = [(name.encode(), value.encode("utf-8", "replace")) for name, value in headers.items()]
        with _translated(target.host):
            request = httpcore2.Request(
                method, url, headers=[(b"Host", target.authority.encode()), *fields], content=content
            )
            response = await self._pool(target.scheme).handle_async_request(request)
            try:
                yield Incoming(target.host, response)
            finally:
                await response.aclose()

    async def aclose(self) -> None:
        with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
            for pool in self._pools.values():
                await pool.aclose()
            await self._network.aclose()

    def _pool(self, scheme: str) -> httpcore2.AsyncConnectionPool:
        if scheme not in self._pools:
            tls = self._tls() if scheme == "https" else None
            self._pools[scheme] = httpcore2.AsyncConnectionPool(ssl_context=tls, network_backend=self._network)
        return self._pools[scheme]


class _Accounted(httpcore2.AsyncNetworkBackend):
    """A network that closes what it opened: a handshake cut off by a deadline leaves its socket to nobody else."""

    def __init__(self, below: httpcore2.AsyncNetworkBackend) -> None:
        self._below = below
        self._opened: list[httpcore2.AsyncNetworkStream] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        stream = await self._below.connect_tcp(host, port, timeout, local_address, socket_options)
        self._opened.append(stream)
        return stream

    async def aclose(self) -> None:
        for stream in self._opened:
            await stream.aclose()


def described(status: int) -> str:
    """`404 (Not Found)`; a number that means nothing stays a number."""
    try:
        return f"{status} ({HTTPStatus(status).phrase})"
    except ValueError:
        return str(status)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """How many seconds from now, written as seconds or as a date."""
    written = headers.get("retry-after", "").strip()
    if written.isascii() and written.isdigit():
        return float(written[:10])
    try:
        moment = parsedate_to_datetime(written)
    except ValueError:
        return None
    return max((moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0.0)


def _declared(headers: Mapping[str, str]) -> int:
    written = headers.get("content-length", "")
    return int(written[:20]) if written.isascii() and written.isdigit() else 0


def _joined(fields: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    headers: dict[str, str] = {}
    for raw_name, raw_value in fields:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


@contextmanager
def _translated(host: str) -> Iterator[None]:
    try:
        yield
    except httpcore2.ConnectError as error:
        # The library carries the first cause as its argument and cuts the chain of causes.
        if any(isinstance(cause, ssl.SSLError) for cause in error.args):
            raise SourceError(f"{host} cannot prove who it is: its certificate or its TLS is not valid") from error
        if any(isinstance(cause, OSError) for cause in error.args):
            raise SourceError(f"{host} accepts no connection") from error
        raise TransientError(f"{host} broke the connection off") from error
    except httpcore2.RemoteProtocolError as error:
        raise TransientError(f"{host} broke off or does not speak HTTP as it should") from error
    except (httpcore2.NetworkError, OSError) as error:
        raise TransientError(f"{host} broke the connection off") from error
    except httpcore2.TimeoutException as error:
        raise TransientError(f"{host} took too long to connect") from error
    except httpcore2.ProtocolError as error:
        raise SourceError(f"{host} cannot be asked for this: it is not valid HTTP") from error
