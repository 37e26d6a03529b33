"""Serving: a researcher put on stdio or at an address, until it is told to stop. Blocking; for `server.py` files."""

import gc
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from marchwarden.errors import InvalidInput
from marchwarden.mcp.clients import ClientRegistry, ServiceConfig
from marchwarden.mcp.http_server import serve_http
from marchwarden.mcp.otel_export import exporting
from marchwarden.mcp.resources import ReadableRuns
from marchwarden.mcp.server import build_server
from marchwarden.mcp.service import Service
from marchwarden.mcp.stdio_server import serve_stdio
from marchwarden.protocols import Researcher
from marchwarden.settings import Settings
from marchwarden.storage.store import Store

HIGHEST_PORT: Final = 65_535
LEDGER: Final = "calls.sqlite"
SELDOM: Final = (20_000, 20, 20)
"""After how many new objects, and how many looks at those, garbage is looked for."""


@dataclass(frozen=True)
class ServeOptions:
    """Where a server stands and for whom, as a command line says it. Without an address it serves one on stdio."""

    address: str | None = None
    token_env: str | None = None
    described: str | None = None
    hosts: Sequence[str] = ()

    def service(self, settings: Settings) -> Service:
        """One token for all, or a file with a token for each."""
        if self.address is None:
            if self.described is not None:
                raise InvalidInput("--service is for servers at an address: add --http HOST:PORT")
            return Service()
        token = settings.secret(self.token_env)
        if token is not None and self.described is not None:
            raise InvalidInput("the file of a service names the variables of its tokens: leave out --token-env")
        if self.described is not None:
            house = ServiceConfig.load(Path(self.described), settings.environ)
        else:
            house = ServiceConfig(guests=ClientRegistry() if token is None else ClientRegistry.with_token(token))
        return Service(house, Store.at(settings.trace_dir, settings.environ).folder / LEDGER)


def serve(
    researcher: Researcher, store: ReadableRuns, *, name: str, purpose: str, stand: ServeOptions, settings: Settings
) -> None:
    """On stdio, or at `HOST:PORT`; the URL is told on stderr once it answers."""
    server = build_server(researcher, name=name, purpose=purpose, store=store, service=stand.service(settings))
    if stand.address is None:
        anyio.run(serve_stdio, server)
        return
    host, port = _parsed(stand.address)
    with exporting(settings.environ):
        anyio.run(partial(serve_http, server, host, port, allowed_hosts=stand.hosts, announce=_announce))


def _parsed(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or int(port) > HIGHEST_PORT:
        raise InvalidInput(f"{address!r} is not an address; write it as HOST:PORT, for example 127.0.0.1:8730")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _announce(url: str) -> None:
    tune_garbage_collector()
    sys.stderr.write(f"serving at {url}\n")
    sys.stderr.flush()


def tune_garbage_collector() -> None:
    """What was loaded to begin with is never garbage, what is in flight seldom: looking through both again and again
    was a quarter of the work of a server with two thousand calls in flight.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*SELDOM)
