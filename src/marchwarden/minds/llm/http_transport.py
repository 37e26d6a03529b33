"""HTTP transport that accepts only JSON objects of a limited size from a model provider.

Why not the vendor libraries alone: they do not validate a response, so an HTML page, a list, a truncated body or
200 MB lead to arbitrary errors. Knows nothing about the content of an answer.
"""

import json
from typing import Final

import httpx2

from marchwarden.minds.llm.response_body import reduce_body

LARGEST_ANSWER: Final = 8 << 20
_UNCOMPRESSED: Final = frozenset({"", "identity"})


class Garbled(httpx2.ReadError):
    """The response is not one that a model provider sends."""


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Reads the whole response up to a size limit. Rejects compressed responses, which the client does not request."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, largest: int = LARGEST_ANSWER) -> None:
        self._inner = inner
        self._largest = largest

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        try:
            content = await self._content(response)
        finally:
            await response.aclose()
        headers = [(name, value) for name, value in response.headers.items() if not name.startswith("content-")]
        if response.is_success:
            # The body has just been validated as JSON, so its declared content type does not matter.
            headers.append(("content-type", "application/json"))
            content = _validate(content)
        return httpx2.Response(response.status_code, headers=headers, content=content)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _content(self, response: httpx2.Response) -> bytes:
        if response.headers.get("content-encoding", "") not in _UNCOMPRESSED:
            raise Garbled("the answer was compressed, which was not asked for")
        content = bytearray()
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        async for part in response.stream:
            content += part
            if len(content) > self._largest:
                raise Garbled(f"the answer was longer than {self._largest} bytes")
        return bytes(content)


def _validate(content: bytes) -> bytes:
    """Return the body if it is a JSON object, without anything that the vendor libraries may not know."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Garbled("the answer was not JSON") from error
    if not isinstance(body, dict):
        raise Garbled("the answer was not a JSON object")
    return json.dumps(reduce_body(body)).encode()
