"""Serving: a built server put on stdio or at an address, until it is told to stop. Blocking; for `server.py` files."""

import sys
from collections.abc import Sequence
from functools import partial
from typing import Final

import anyio

from marchwarden.errors import InvalidInput
from marchwarden.wire.http_server import serve_http
from marchwarden.wire.server import McpServer
from marchwarden.wire.stdio_server import serve_stdio

HIGHEST_PORT: Final = 65_535


def serve(
    server: McpServer, address: str | None = None, *, token: str | None = None, allowed_hosts: Sequence[str] = ()
) -> None:
    """On stdio, or at `HOST:PORT`; the URL is told on stderr once it answers."""
    if address is None:
        anyio.run(serve_stdio, server)
        return
    host, port = _parsed(address)
    anyio.run(partial(serve_http, server, host, port, token=token, allowed_hosts=allowed_hosts, announce=_announce))


def _parsed(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or int(port) > HIGHEST_PORT:
        raise InvalidInput(f"{address!r} is not an address; write it as HOST:PORT, for example 127.0.0.1:8730")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _announce(url: str) -> None:
    sys.stderr.write(f"serving at {url}\n")
    sys.stderr.flush()
