"""Send one HTTP request and read its response under a size limit. Does not know about retries, robots.txt or delays.

Why not httpx: its timeouts apply per read, it decodes bodies without a size limit, and a guard belongs below TLS and
redirects. `httpcore2` lets us supply the network. Cookies, connections and event loops end with the call.
"""

import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

import anyio
import httpcore2

from marchwarden.errors import SourceError
from marchwarden.fetching.retry import TransientError
from marchwarden.fetching.urls import Url
from marchwarden.text.sanitize import one_line

ACCEPTED_ENCODINGS: Final = "gzip"
_GZIP: Final = frozenset({"gzip", "x-gzip"})
_GZIP_WINDOW: Final = 31
_MAX_GZIP_MEMBERS: Final = 100
_CLOSE_SECONDS: Final = 1.0
_DRAIN_SECONDS: Final = 1.0
_MAX_DRAINED_BYTES: Final = 64 << 10
_TRANSIENT_STATUSES: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


class BodyDecoder:
    """Decodes a response body chunk by chunk and never holds more than `max_bytes`. Accepts gzip and plain bytes."""

    def __init__(self, encoding: str, max_bytes: int) -> None:
        names = [name for name in encoding.lower().replace(" ", "").split(",") if name not in {"", "identity"}]
        if len(names) > 1 or not _GZIP.issuperset(names):
            raise SourceError(f"its body has an unsupported encoding ({one_line(encoding, 40)})")
        self._max_bytes = max_bytes
        self._content = bytearray()
        self._received = 0
        self._members = 0
        self._ended = False
        self._inflater = zlib.decompressobj(_GZIP_WINDOW) if names else None

    @property
    def content(self) -> bytes:
        """The decoded bytes so far, at most `max_bytes`."""
        return bytes(memoryview(self._content)[: self._max_bytes])

    @property
    def complete(self) -> bool:
        return self._inflater is None or self._inflater.eof or not self._received

    def feed(self, chunk: bytes) -> bool:
        """Add received bytes. Returns False once the body exceeds the limit."""
        self._received += len(chunk)
        if self._inflater is None:
            self._content += chunk
        else:
            self._inflate(chunk)
        return max(self._received, len(self._content)) <= self._max_bytes

    def _inflate(self, chunk: bytes) -> None:
        while chunk and not self._ended and len(self._content) <= self._max_bytes:
            inflater = self._current_member(chunk)
            if inflater is None:
                self._ended = True
                return
            try:
                self._content += inflater.decompress(chunk, self._max_bytes + 1 - len(self._content))
            except zlib.error as error:
                raise SourceError("its body is not valid gzip") from error
            chunk = inflater.unused_data if inflater.eof else inflater.unconsumed_tail

    def _current_member(self, chunk: bytes) -> "zlib._Decompress | None":
        """The decompressor for the next bytes: gzip members may follow each other, and padding follows the last."""
        assert self._inflater is not None
        if self._inflater.eof:
            if not chunk.startswith(b"\x1f"):
                return None
            self._members += 1
            if self._members > _MAX_GZIP_MEMBERS:
                raise SourceError(f"its body is more than {_MAX_GZIP_MEMBERS} gzip members")
            self._inflater = zlib.decompressobj(_GZIP_WINDOW)
        return self._inflater


class IncomingResponse:
    """A response whose headers have arrived. Header names are lower case; repeated headers are joined."""

    def __init__(self, host: str, response: httpcore2.Response) -> None:
        self.host = host
        self.status = response.status
        self.headers = _merge_headers(response.headers)
        self._response = response

    async def read_body(self, max_bytes: int) -> bytes:
        """Read and decode the complete body. Raises `SourceError` if it is larger than `max_bytes`."""
        if _content_length(self.headers) > max_bytes:
            raise self._too_large(max_bytes)
        body = BodyDecoder(self.headers.get("content-encoding", ""), max_bytes)
        async with aclosing(self._response.aiter_stream()) as chunks:
            async for chunk in chunks:
                if not body.feed(chunk):
                    raise self._too_large(max_bytes)
        if not body.complete:
            raise SourceError(f"the page of {self.host} is truncated")
        return body.content

    async def read_start(self, max_bytes: int) -> bytes:
        """Read and decode the body, truncated to `max_bytes`."""
        body = BodyDecoder(self.headers.get("content-encoding", ""), max_bytes)
        async with aclosing(self._response.aiter_stream()) as chunks:
            async for chunk in chunks:
                if not body.feed(chunk):
                    break
        return body.content

    async def drain(self) -> None:
        """Read and discard a short body, so that the connection can be reused."""
        read = 0
        with anyio.move_on_after(_DRAIN_SECONDS), suppress(httpcore2.NetworkError, httpcore2.ProtocolError):
            async with aclosing(self._response.aiter_stream()) as chunks:
                async for chunk in chunks:
                    read += len(chunk)
                    if read > _MAX_DRAINED_BYTES:
                        break

    def raise_if_transient(self) -> None:
        """Raise `TransientError` if the status says that a later request may succeed."""
        if self.status in _TRANSIENT_STATUSES:
            seconds = retry_after(self.headers)
            wait = "" if seconds is None else f" and asks to wait {seconds:.0f} s"
            raise TransientError(f"{self.host} answered {describe_status(self.status)}{wait}", seconds)

    def _too_large(self, max_bytes: int) -> SourceError:
        return SourceError(f"the page of {self.host} is larger than {max_bytes / (1 << 20):g} MiB")


class Connections:
    """The connections of one page or API call, over the given network.

    `tls` is called on the first https request: loading the system certificates takes as long as a fast page.
    """

    def __init__(self, network: httpcore2.AsyncNetworkBackend, tls: Callable[[], ssl.SSLContext]) -> None:
        self._network = _TrackingNetwork(network)
        self._tls = tls
        self._pools: dict[str, httpcore2.AsyncConnectionPool] = {}

    @asynccontextmanager
    async def send(
        self, method: str, target: Url, headers: Mapping[str, str], content: bytes | None = None
    ) -> AsyncIterator[IncomingResponse]:
        """Send a request. Network errors inside the block are raised as `SourceError`."""
        url = httpcore2.URL(
            scheme=target.scheme.encode(), host=target.host.encode(), port=target.port, target=target.path.encode()
        )
        fields = [(name.encode(), value.encode("utf-8", "replace")) for name, value in headers.items()]
        with _translate_errors(target.host):
            request = httpcore2.Request(
                method, url, headers=[(b"Host", target.authority.encode()), *fields], content=content
            )
            response = await self._pool(target.scheme).handle_async_request(request)
            try:
                yield IncomingResponse(target.host, response)
            finally:
                await response.aclose()

    async def aclose(self) -> None:
        with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
            for pool in self._pools.values():
                await pool.aclose()
            await self._network.aclose()

    def _pool(self, scheme: str) -> httpcore2.AsyncConnectionPool:
        if scheme not in self._pools:
            tls = self._tls() if scheme == "https" else None
            self._pools[scheme] = httpcore2.AsyncConnectionPool(ssl_context=tls, network_backend=self._network)
        return self._pools[scheme]


class _TrackingNetwork(httpcore2.AsyncNetworkBackend):
    """Closes every socket it opened. A TLS handshake cut off by a deadline would otherwise leak its socket."""

    def __init__(self, network: httpcore2.AsyncNetworkBackend) -> None:
        self._network = network
        self._opened: list[httpcore2.AsyncNetworkStream] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        stream = await self._network.connect_tcp(host, port, timeout, local_address, socket_options)
        self._opened.append(stream)
        return stream

    async def aclose(self) -> None:
        for stream in self._opened:
            await stream.aclose()


def describe_status(status: int) -> str:
    """Format a status with its reason phrase: `404 (Not Found)`. An unknown status stays a number."""
    try:
        return f"{status} ({HTTPStatus(status).phrase})"
    except ValueError:
        return str(status)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Parse `Retry-After`, given as seconds or as a date, into seconds from now."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:10])
    moment = parse_http_date(value)
    return None if moment is None else max((moment - datetime.now(UTC)).total_seconds(), 0.0)


def parse_http_date(text: str) -> datetime | None:
    """Parse a date as in HTTP headers and emails. One without a zone is UTC; one that does not exist is None."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _content_length(headers: Mapping[str, str]) -> int:
    value = headers.get("content-length", "")
    return int(value[:20]) if value.isascii() and value.isdigit() else 0


def _merge_headers(fields: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    headers: dict[str, str] = {}
    for raw_name, raw_value in fields:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


@contextmanager
def _translate_errors(host: str) -> Iterator[None]:
    try:
        yield
    except httpcore2.ConnectError as error:
        # httpcore2 passes the original error as an argument and cuts the chain of causes.
        if any(isinstance(cause, ssl.SSLError) for cause in error.args):
            raise SourceError(f"{host} has an invalid TLS certificate or configuration") from error
        if any(isinstance(cause, OSError) for cause in error.args):
            raise SourceError(f"{host} could not be reached") from error
        raise TransientError(f"{host} closed the connection") from error
    except httpcore2.RemoteProtocolError as error:
        raise TransientError(f"{host} closed the connection or sent invalid HTTP") from error
    except (httpcore2.NetworkError, OSError) as error:
        raise TransientError(f"{host} closed the connection") from error
    except httpcore2.TimeoutException as error:
        raise TransientError(f"{host} took too long to connect") from error
    except httpcore2.ProtocolError as error:
        raise SourceError(f"the request to {host} is not valid HTTP") from error
