"""Servers with a real investigator whose fetches wait until the test releases them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from marchwarden.core.notebook import Document, Hit
from marchwarden.mcp.clients import ClientRegistry, ServiceClient, ServiceConfig, ServiceLimits
from marchwarden.mcp.http_server import serve_http
from marchwarden.mcp.server import McpServer, build_server
from marchwarden.mcp.service import Service
from marchwarden.storage.store import Store
from tests.investigating import an_investigator
from tests.world.memory import MemorySource


@dataclass
class HeldSource(MemorySource):
    """Searches return immediately, fetches wait until `release` is set.

    `reached` is set when the first fetch waits, `stopped` when no fetch waits any more.
    """

    reached: anyio.Event = field(default_factory=anyio.Event)
    release: anyio.Event = field(default_factory=anyio.Event)
    stopped: anyio.Event = field(default_factory=anyio.Event)
    fetching: int = 0

    async def fetch(self, hit: Hit) -> Document:
        self.reached.set()
        self.fetching += 1
        try:
            await self.release.wait()
        finally:
            self.fetching -= 1
            if not self.fetching:
                self.stopped.set()
        return await super().fetch(hit)

    @property
    def searches(self) -> Sequence[str]:
        return [call for call in self.calls if call.startswith("search")]


def make_config(*clients: ServiceClient, **limits: Any) -> ServiceConfig:
    return ServiceConfig(ServiceLimits(**limits), ClientRegistry(clients))


def held_server(folder: Path, source: MemorySource, config: ServiceConfig | None = None) -> McpServer:
    """A server that stores its calls on disk, as HTTP servers do."""
    service = Service(config, folder / "calls.sqlite")
    investigator = an_investigator(folder, source=source)
    return build_server(investigator, name="memory", purpose="Knows a bridge.", store=Store(folder), service=service)


@asynccontextmanager
async def http_url(server: McpServer) -> AsyncIterator[str]:
    """Serve over HTTP on a free port and yield the URL."""
    announced, urls = anyio.create_memory_object_stream[str](1)
    with announced, urls:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(serve_http, server, "127.0.0.1", 0, announce=announced.send_nowait))
            with anyio.fail_after(60):
                url = await urls.receive()
            yield url
            tasks.cancel_scope.cancel()
