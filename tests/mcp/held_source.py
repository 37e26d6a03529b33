"""Real investigations that stand still where a test wants them to, served so that they can be found again."""

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
    """Searches at once; fetches stand still until `release` is set.

    `reached` says that one does, `stopped` that none does any more.
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


def house(*callers: ServiceClient, **terms: Any) -> ServiceConfig:
    return ServiceConfig(ServiceLimits(**terms), ClientRegistry(callers))


def served(folder: Path, source: MemorySource, terms: ServiceConfig | None = None) -> McpServer:
    """An investigator whose calls are noted on disk, as those of a server at an address are."""
    service = Service(terms, folder / "calls.sqlite")
    investigator = an_investigator(folder, source=source)
    return build_server(investigator, name="memory", purpose="Knows a bridge.", store=Store(folder), service=service)


@asynccontextmanager
async def at_an_address(server: McpServer) -> AsyncIterator[str]:
    announced, urls = anyio.create_memory_object_stream[str](1)
    with announced, urls:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(serve_http, server, "127.0.0.1", 0, announce=announced.send_nowait))
            with anyio.fail_after(60):
                url = await urls.receive()
            yield url
            tasks.cancel_scope.cancel()
