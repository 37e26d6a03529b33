"""Fetch web pages, one call per page. Knows HTTP, robots.txt and delays; does not parse pages."""

import ssl
from dataclasses import replace

import anyio
import httpcore2

from marchwarden.errors import SourceError
from marchwarden.fetching.cache import Page, PageCache
from marchwarden.fetching.connection import Connections
from marchwarden.fetching.guard import GuardedNetwork, NetworkGuard, Resolver, system_resolver
from marchwarden.fetching.page_request import PageRequest
from marchwarden.fetching.rate_limit import HostQueues
from marchwarden.fetching.robots import Robots
from marchwarden.fetching.settings import FetchSettings
from marchwarden.fetching.urls import Url, parse_url


class Fetcher:
    """Fetches pages for any number of concurrent runs in one event loop. Event loops may follow one another.

    Between calls it keeps robots.txt rules and the time of the last request to each host. Connections are closed at
    the end of each call, so the fetcher needs no closing. `resolver` and `network` can be replaced; the guard checks
    both.
    """

    def __init__(
        self,
        settings: FetchSettings | None = None,
        cache: PageCache | None = None,
        *,
        resolver: Resolver = system_resolver,
        network: httpcore2.AsyncNetworkBackend | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.settings = settings or FetchSettings()
        self._cache = cache
        self._guard = NetworkGuard(self.settings.allowed, resolver, self.settings.keys)
        self._network = GuardedNetwork(self._guard, network or httpcore2.AnyIOBackend())
        self._tls = tls
        self._queues = HostQueues(self.settings.per_host)
        self._robots = Robots(self.settings.user_agent)
        self._slots = anyio.Semaphore(self.settings.max_concurrent)

    async def get(self, url: str) -> Page:
        """Fetch a page and follow its redirects. Raises only `SourceError`."""
        target = parse_url(url)
        with anyio.move_on_after(self.settings.page_seconds):
            async with self._slots:
                page = await self._fetch(target)
                return replace(page, requested_url=url)
        raise SourceError(f"{target.host} did not deliver the page within {self.settings.page_seconds:g} s")

    async def _fetch(self, target: Url) -> Page:
        connections = Connections(self._network, self._certificates)
        try:
            request = PageRequest(self.settings, connections, self._guard, self._queues, self._robots, self._cache)
            return await request.fetch(target)
        finally:
            await connections.aclose()

    def _certificates(self) -> ssl.SSLContext:
        self._tls = self._tls or httpcore2.default_ssl_context()
        return self._tls
