"""Read JSON-RPC requests, one per line, in bounded memory. Only a line that is too long is skipped."""

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

EDGE_BYTES: Final = 1024
_ID: Final = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")'
_VERSION: Final = rb'"jsonrpc"\s*:\s*"2\.0"'
_AT_START: Final = re.compile(rb"\s*\{\s*(?:" + _VERSION + rb"\s*,\s*)?" + _ID + rb"\s*,")
_AT_END: Final = re.compile(rb",\s*" + _ID + rb"\s*(?:,\s*" + _VERSION + rb"\s*)?\}\s*\Z")


@dataclass(frozen=True)
class OversizedRequest:
    """The edges of a line that is too long to keep in memory."""

    head: bytes
    tail: bytes

    @property
    def id(self) -> int | str | None:
        """The id of the request, if it is the first or the last of its keys, as all known clients write it."""
        match = _AT_START.match(self.head) or _AT_END.search(self.tail)
        try:
            found: int | str | None = json.loads(match[1]) if match else None
        except ValueError:
            return None
        return found


@dataclass
class _Line:
    """A line while it arrives. Once it is too long, only its edges are kept."""

    max_bytes: int
    content: bytearray = field(default_factory=bytearray)
    head: bytes | None = None

    def add(self, part: bytes) -> None:
        self.content += part
        if self.head is None and len(self.content) > self.max_bytes:
            self.head = bytes(self.content[:EDGE_BYTES])
        if self.head is not None:
            del self.content[:-EDGE_BYTES]

    def finish(self) -> bytes | OversizedRequest:
        return bytes(self.content) if self.head is None else OversizedRequest(self.head, bytes(self.content))


async def read_requests(
    receive: Callable[[], Awaitable[bytes]], max_bytes: int
) -> AsyncIterator[bytes | OversizedRequest]:
    """Yield the complete lines of a byte stream until `receive` returns b""."""
    line = _Line(max_bytes)
    while chunk := await receive():
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line.add(end)
            yield line.finish()
            line = _Line(max_bytes)
        line.add(rest)
