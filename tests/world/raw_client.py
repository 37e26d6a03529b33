"""A minimal HTTP client: sends a request on a raw socket and returns the bytes."""

import json
import socket
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

SILENCE_SECONDS: Final = 0.25
"""How long a silence counts as hanging."""
MAX_SECONDS: Final = 5.0
CHUNK: Final = 1 << 16


@dataclass(frozen=True)
class RawResponse:
    """The bytes received and how the connection ended. `silent`: it did not end, the read timed out."""

    data: bytes = field(repr=False)
    silent: bool = False
    reset: bool = False

    @property
    def status(self) -> int:
        return int(self.data.split(b" ", 2)[1])

    @property
    def body(self) -> bytes:
        return self.data.partition(b"\r\n\r\n")[2]

    @property
    def lines(self) -> list[str]:
        return self.data.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]

    def header(self, name: str) -> str | None:
        pairs = (line.split(": ", 1) for line in self.lines)
        return next((value for each, value in pairs if each.casefold() == name.casefold()), None)

    def json(self) -> dict[str, object]:
        parsed = json.loads(self.body)
        assert isinstance(parsed, dict)
        return parsed


def send_request(
    url: str,
    method: str = "GET",
    body: bytes = b"",
    headers: dict[str, str] | None = None,
    *,
    timeout: float = MAX_SECONDS,
    max_bytes: int = 1 << 30,
) -> RawResponse:
    """Send one request on a new connection. Read until it ends, is silent or has sent `max_bytes`."""
    parts = urlsplit(url)
    assert parts.hostname and parts.port
    lines = {"Host": parts.netloc, "Connection": "close", "Content-Length": str(len(body)), **(headers or {})}
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    with socket.create_connection((parts.hostname, parts.port), MAX_SECONDS) as connection:
        sent = [f"{method} {target or '/'} HTTP/1.1", *(f"{name}: {value}" for name, value in lines.items()), "", ""]
        connection.sendall("\r\n".join(sent).encode() + body)
        connection.settimeout(timeout)
        return _read_response(connection, max_bytes)


def _read_response(connection: socket.socket, max_bytes: int) -> RawResponse:
    data = bytearray()
    try:
        while len(data) < max_bytes and (more := connection.recv(CHUNK)):
            data += more
    except TimeoutError:
        return RawResponse(bytes(data), silent=True)
    except ConnectionResetError:
        return RawResponse(bytes(data), reset=True)
    return RawResponse(bytes(data))
