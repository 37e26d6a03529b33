"""A client with no manners and no opinions: it sends a request on a bare socket and gives back the bytes."""

import json
import socket
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

PATIENCE: Final = 0.25
"""How long silence must last to count as hanging."""
LONGEST: Final = 5.0
READ: Final = 1 << 16


@dataclass(frozen=True)
class Heard:
    """What came before the end, and what the end was. `silent`: there was none, only waiting."""

    written: bytes = field(repr=False)
    silent: bool = False
    reset: bool = False

    @property
    def status(self) -> int:
        return int(self.written.split(b" ", 2)[1])

    @property
    def body(self) -> bytes:
        return self.written.partition(b"\r\n\r\n")[2]

    @property
    def lines(self) -> list[str]:
        return self.written.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]

    def header(self, name: str) -> str | None:
        pairs = (line.split(": ", 1) for line in self.lines)
        return next((value for each, value in pairs if each.casefold() == name.casefold()), None)

    def json(self) -> dict[str, object]:
        parsed = json.loads(self.body)
        assert isinstance(parsed, dict)
        return parsed


def ask(
    url: str,
    method: str = "GET",
    body: bytes = b"",
    headers: dict[str, str] | None = None,
    *,
    patience: float = LONGEST,
    most: int = 1 << 30,
) -> Heard:
    """One request, one connection, read until it ends, falls silent or has said `most` bytes."""
    parts = urlsplit(url)
    assert parts.hostname and parts.port
    lines = {"Host": parts.netloc, "Connection": "close", "Content-Length": str(len(body)), **(headers or {})}
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    with socket.create_connection((parts.hostname, parts.port), LONGEST) as connection:
        sent = [f"{method} {target or '/'} HTTP/1.1", *(f"{name}: {value}" for name, value in lines.items()), "", ""]
        connection.sendall("\r\n".join(sent).encode() + body)
        connection.settimeout(patience)
        return _heard(connection, most)


def _heard(connection: socket.socket, most: int) -> Heard:
    written = bytearray()
    try:
        while len(written) < most and (more := connection.recv(READ)):
            written += more
    except TimeoutError:
        return Heard(bytes(written), silent=True)
    except ConnectionResetError:
        return Heard(bytes(written), reset=True)
    return Heard(bytes(written))
