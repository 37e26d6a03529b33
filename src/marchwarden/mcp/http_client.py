"""The streamable HTTP transport of the client. Limits the size of responses and reports HTTP errors the SDK drops.

Does not know the tool or the contract.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Final

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from marchwarden.errors import InvalidInput, ResearcherUnavailable
from marchwarden.text.sanitize import one_line

MAX_MESSAGE_BYTES: Final = 16 << 20
STREAM_FACTOR: Final = 4
"""An event stream may be this many times larger than one event, because it also carries the progress."""
CONNECT_SEC: Final = 10.0

_HTTP_ERRORS: Final[Mapping[int, str]] = {
    401: "it rejected the call (401): the token is missing or wrong",
    403: "it rejected the call (403): the token does not allow it",
    421: "it rejected the call (421): it does not accept this host name",
    503: "it is overloaded (503)",
}


@dataclass(frozen=True)
class HttpTransport:
    """The URL of a server and the bearer token to send."""

    url: str
    token: str | None = field(default=None, repr=False)
    max_message_bytes: int = MAX_MESSAGE_BYTES

    def __post_init__(self) -> None:
        try:
            parsed = httpx2.URL(self.url)
        except httpx2.InvalidURL as error:
            raise InvalidInput(f"{one_line(self.url, 120)} is not a URL: {error}") from error
        if parsed.scheme not in {"http", "https"} or not parsed.host:
            raise InvalidInput(f"{one_line(self.url, 120)} is not an http or https URL")

    @property
    def name(self) -> str:
        return one_line(str(httpx2.URL(self.url).copy_with(userinfo=b"", query=None)), 120)

    def connect(self) -> AbstractAsyncContextManager["HttpConnection"]:
        return nullcontext(HttpConnection(self))


class HttpConnection:
    """One connection. `target` opens the streams that the SDK's client uses."""

    def __init__(self, endpoint: HttpTransport) -> None:
        self._endpoint = endpoint
        # Loading certificates takes 100 ms; plain HTTP does not need them.
        is_secure = httpx2.URL(endpoint.url).scheme == "https"
        self._limited = _LimitedTransport(httpx2.AsyncHTTPTransport(verify=is_secure), endpoint.max_message_bytes)
        self.target = self._open_streams()

    def failure(self) -> str:
        return self._limited.failure

    @asynccontextmanager
    async def _open_streams(self) -> AsyncIterator[TransportStreams]:
        # No compression: a small body that decodes to a huge one would bypass the limit.
        headers = {"Accept-Encoding": "identity"}
        if self._endpoint.token is not None:
            headers["Authorization"] = f"Bearer {self._endpoint.token}"
        # No read timeout: `ToolCall` limits the silence and cancels the whole call.
        timeout = httpx2.Timeout(CONNECT_SEC, read=None)
        async with (
            httpx2.AsyncClient(transport=self._limited, headers=headers, timeout=timeout, trust_env=False) as http,
            streamable_http_client(
                self._endpoint.url, http_client=http, max_sse_event_size=self._endpoint.max_message_bytes
            ) as streams,
        ):
            yield streams


class _LimitedTransport(httpx2.AsyncBaseTransport):
    """Aborts responses of any type that are compressed or too large."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, max_bytes: int) -> None:
        self._inner = inner
        self._max_bytes = max_bytes
        self.failure = ""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        self.failure = _HTTP_ERRORS.get(response.status_code, self.failure)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            self._abort("it sent a compressed answer, which is not accepted")
        assert isinstance(response.stream, httpx2.AsyncByteStream), "an asynchronous transport streams asynchronously"
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_LimitedStream(response.stream, self._max_bytes * (STREAM_FACTOR if is_stream else 1), self),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()

    def abort_oversized(self) -> None:
        self._abort(f"it sent more than {self._max_bytes >> 20} MiB in one answer")

    def _abort(self, failure: str) -> None:
        self.failure = failure
        raise ResearcherUnavailable(failure)


class _LimitedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, max_bytes: int, transport: _LimitedTransport) -> None:
        self._stream = stream
        self._bytes_left = max_bytes
        self._transport = transport

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._bytes_left -= len(chunk)
            if self._bytes_left < 0:
                self._transport.abort_oversized()
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
