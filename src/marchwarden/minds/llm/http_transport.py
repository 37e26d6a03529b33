"""A transport that hands a model provider's answer on only when it is one: a JSON object of a sensible size.

Vendors' libraries trust what they receive; a page, a list, half a body or 200 MB come out of them as anything. Knows
nothing of what an answer says.
"""

import json
from typing import Final

import httpx2

LARGEST_ANSWER: Final = 8 << 20
_UNCOMPRESSED: Final = frozenset({"", "identity"})
_TOKEN_COUNTS: Final = ("input_tokens", "output_tokens", "prompt_tokens", "completion_tokens", "total_tokens")


class Garbled(httpx2.ReadError):
    """Something arrived that no model provider sends."""


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Reads the whole answer, and no more than it may be. Compressed answers were not asked for and are refused."""

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
            # Labelled as JSON whatever it came as: it has just been looked at.
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
    """The body of an answer. A count of tokens that is missing or makes no sense is set to nought: not counted."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Garbled("the answer was not JSON") from error
    if not isinstance(body, dict):
        raise Garbled("the answer was not a JSON object")
    if _is_valid_usage(body.get("usage")):
        return content
    return json.dumps({**body, "usage": dict.fromkeys(_TOKEN_COUNTS, 0)}).encode()


def _is_valid_usage(usage: object) -> bool:
    if not isinstance(usage, dict):
        return False
    counts = [usage[name] for name in _TOKEN_COUNTS if name in usage]
    return bool(counts) and all(type(count) is int and count >= 0 for count in counts)
