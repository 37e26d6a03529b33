"""Endpoint: a researcher at a URL. Bounds what is read of it and notes refusals the SDK would swallow.

Knows no tool and no contract.
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

LARGEST_ANSWER: Final = 16 << 20
STREAM_FACTOR: Final = 4
"""A stream of events may be this much longer than its largest event: it also carries the signs of life."""
CONNECT_SEC: Final = 10.0

_REFUSALS: Final[Mapping[int, str]] = {
    401: "it refused the call (401): the token is missing or wrong",
    403: "it refused the call (403): the token may not do this",
    421: "it refused the call (421): it does not answer to this host name",
    503: "it is too busy (503)",
}


@dataclass(frozen=True)
class HttpTransport:
    """Where to call, and the token to show there."""

    url: str
    token: str | None = field(default=None, repr=False)
    largest_answer: int = LARGEST_ANSWER

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

    def opened(self) -> AbstractAsyncContextManager["HttpConnection"]:
        return nullcontext(HttpConnection(self))


class HttpConnection:
    """One conversation. `complaint` says what was seen to go wrong with it."""

    def __init__(self, endpoint: HttpTransport) -> None:
        self._endpoint = endpoint
        # Loading certificates takes 100 ms, which a plain connection would pay for nothing.
        secure = httpx2.URL(endpoint.url).scheme == "https"
        self._transport = _Bounded(httpx2.AsyncHTTPTransport(verify=secure), endpoint.largest_answer)
        self.target = self._conversation()

    def complaint(self) -> str:
        return self._transport.complaint

    @asynccontextmanager
    async def _conversation(self) -> AsyncIterator[TransportStreams]:
        # Nothing compressed: a small body that decodes to a huge one would slip past the bound.
        headers = {"Accept-Encoding": "identity"}
        if self._endpoint.token is not None:
            headers["Authorization"] = f"Bearer {self._endpoint.token}"
        # No read timeout: the researcher that calls watches for silence and ends the whole conversation.
        timeout = httpx2.Timeout(CONNECT_SEC, read=None)
        async with (
            httpx2.AsyncClient(transport=self._transport, headers=headers, timeout=timeout, trust_env=False) as http,
            streamable_http_client(
                self._endpoint.url, http_client=http, max_sse_event_size=self._endpoint.largest_answer
            ) as streams,
        ):
            yield streams


class _Bounded(httpx2.AsyncBaseTransport):
    """Ends a response that is compressed or too large, whatever its type."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, largest: int) -> None:
        self._inner = inner
        self._largest = largest
        self.complaint = ""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        self.complaint = _REFUSALS.get(response.status_code, self.complaint)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            self._end("it sent a compressed answer, which it was asked not to")
        assert isinstance(response.stream, httpx2.AsyncByteStream), "an asynchronous transport streams asynchronously"
        whole = not response.headers.get("content-type", "").startswith("text/event-stream")
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_Counted(response.stream, self._largest * (1 if whole else STREAM_FACTOR), self),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()

    def too_large(self) -> None:
        self._end(f"it sent more than {self._largest >> 20} MiB in one answer")

    def _end(self, complaint: str) -> None:
        self.complaint = complaint
        raise ResearcherUnavailable(complaint)


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, largest: int, transport: _Bounded) -> None:
        self._stream = stream
        self._left = largest
        self._transport = transport

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                self._transport.too_large()
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
