"""Fetcher: pages of the web, one call a page. Knows HTTP and manners; knows nothing of what a page says."""

import ssl
from dataclasses import replace

import anyio
import httpcore2

from marchwarden.errors import SourceError
from marchwarden.fetching.connection import Connections
from marchwarden.fetching.guard import Guard, GuardedNetwork, Resolver, system_resolver
from marchwarden.fetching.page import Page, PageMemory
from marchwarden.fetching.page_request import PageRequest
from marchwarden.fetching.per_host import HostQueues
from marchwarden.fetching.robots import Robots
from marchwarden.fetching.settings import FetchSettings
from marchwarden.fetching.urls import Url, parsed


class Fetcher:
    """Fetches pages for any number of runs at once in one event loop, or in one event loop after the other.

    What it keeps between calls is what hosts ask of robots and when they were last called. Connections end with the
    call they were opened for, so there is nothing to close. `resolver` and `network` are for those who bring their
    own; the guard stands in front of both.
    """

    def __init__(
        self,
        settings: FetchSettings | None = None,
        memory: PageMemory | None = None,
        *,
        resolver: Resolver = system_resolver,
        network: httpcore2.AsyncNetworkBackend | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.settings = settings or FetchSettings()
        self._memory = memory
        self._guard = Guard(self.settings.allowed, resolver)
        self._network = GuardedNetwork(self._guard, network or httpcore2.AnyIOBackend())
        self._tls = tls
        self._turns = HostQueues(self.settings.per_host)
        self._robots = Robots(self.settings.user_agent)
        self._places = anyio.Semaphore(self.settings.at_once)

    async def get(self, url: str) -> Page:
        """The page at that URL, redirects followed; raises `SourceError` and nothing else."""
        target = parsed(url)
        with anyio.move_on_after(self.settings.page_seconds):
            async with self._places:
                page = await self._fetched(target)
                return replace(page, requested_url=url)
        raise SourceError(f"{target.host} did not deliver the page within {self.settings.page_seconds:g} s")

    async def _fetched(self, target: Url) -> Page:
        connections = Connections(self._network, self._certificates)
        try:
            errand = PageRequest(self.settings, connections, self._guard, self._turns, self._robots, self._memory)
            return await errand.page(target)
        finally:
            await connections.aclose()

    def _certificates(self) -> ssl.SSLContext:
        self._tls = self._tls or httpcore2.default_ssl_context()
        return self._tls
