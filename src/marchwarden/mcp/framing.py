"""Lines: JSON-RPC messages, one a line, over anything that gives and takes bytes. A line too long ends the reading."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable

from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter


class OversizedLine(Exception):
    """A peer sent more in one line than may be kept in memory."""


async def lines(receive: Callable[[], Awaitable[bytes]], largest: int) -> AsyncIterator[bytes]:
    """The whole lines of a byte stream; `receive` gives b"" at its end. Raises `OversizedLine` and keeps no more."""
    buffer = bytearray()
    while chunk := await receive():
        searched = len(buffer)
        buffer += chunk
        while (end := buffer.find(b"\n", searched)) >= 0:
            if end > largest:
                raise OversizedLine
            yield bytes(buffer[:end])
            del buffer[: end + 1]
            searched = 0
        if len(buffer) > largest:
            raise OversizedLine


def message_in(line: bytes) -> SessionMessage | None:
    """The message in a line, or None where there is none.

    Parsed by the standard library, because it lets lone surrogates through: the door behind can then answer them with
    a clear refusal, where a parse error would leave the caller without an answer.
    """
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(json.loads(line), by_name=False))
    except (ValueError, RecursionError):
        return None


def line_of(message: SessionMessage) -> bytes:
    return message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
