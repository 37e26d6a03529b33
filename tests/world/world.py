"""The test world on loopback: web sites, search services, models, faults, and a trap that must not be reached."""

import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, date, datetime
from types import TracebackType
from typing import Final, Self

from tests.world.arxiv import Arxiv
from tests.world.faults import PREFIX, FaultSite, FaultTargets
from tests.world.model_services import ModelServices
from tests.world.models import ModelLog
from tests.world.pages import ENCYCLOPAEDIA, SITES, pages
from tests.world.robots import FIRST_ADDRESS, robot_hosts
from tests.world.search import Catalogue, SearchEngine, with_commands
from tests.world.searxng import SearXNG
from tests.world.server import Address, Handler, Reply, Request, Server
from tests.world.site import Page
from tests.world.tavily import Tavily
from tests.world.web import WebSite, delayed
from tests.world.wikipedia import Wikipedia

KEY: Final = "tvly-world-key"
FAULTS_ADDRESS: Final = "127.0.0.9"
TRAP: Final = "trap"
NOT_ALLOWED: Final = (TRAP, "anthropic", "openai", "google")
"""Pages are never fetched from these."""


class World:
    """Runs inside a `with` block. Every site has its own loopback address, so Marchwarden runs unmodified.

    A `named` world uses host names (`rivers.senn.gov`) instead, for a fetcher with `resolve` as its resolver.
    """

    def __init__(self, *, named: bool = False, today: date | None = None, page_seconds: float = 0.0) -> None:
        self.key: Final = KEY
        self.today: Final = today or datetime.now(UTC).date()
        self._named = named
        self._page_seconds = page_seconds
        self._names = {site.key: site.name for site in SITES}
        self._pages = {each.key: each for each in pages(self.today)}
        self._addresses: dict[str, Address] = {}
        self._sites: dict[str, WebSite] = {}
        self._robots: tuple[str, ...] = ()
        self.models: Final = ModelServices(self.origin)
        self._server = Server()
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opening:
            opening.enter_context(self._server)
            # Bound but not listening: connections are refused, and no other process can take the port.
            closed = opening.enter_context(socket.socket())
            closed.bind(("127.0.0.1", 0))
            self._populate(f"http://127.0.0.1:{closed.getsockname()[1]}/")
            self._open = opening.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    @property
    def requests(self) -> list[Request]:
        """All requests so far in order of arrival, except those to the trap."""
        return [request for request in self._server.requests if request.site != TRAP]

    @property
    def trap_connections(self) -> int:
        """The number of connections to the trap, which is not an allowed host. Must stay 0."""
        return self._server.connections.count(TRAP)

    @property
    def model_log(self) -> ModelLog:
        """The requests and bills of the models."""
        return self.models.log

    @property
    def pages(self) -> Mapping[str, Page]:
        return self._pages

    @property
    def faults(self) -> tuple[str, ...]:
        return (*self._faults.names, *self._robots)

    @property
    def allow_hosts(self) -> str:
        """The allowed hosts for this world: every site except the trap and the models."""
        return ",".join(self._netloc(key) for key in self._addresses if key not in NOT_ALLOWED)

    def requested(self, site: str) -> list[str]:
        """The targets requested from a site."""
        return [request.target for request in self.requests if request.site == site]

    def origin(self, site: str) -> str:
        return f"http://{self._netloc(site)}"

    def url(self, key: str) -> str:
        """The URL of a page, a fault or a host with a faulty robots.txt."""
        if key in self._pages:
            return self.origin(self._pages[key].site) + self._pages[key].path
        if key in self._robots:
            return f"{self.origin(key)}/page"
        if key in self._faults.names:
            return f"{self.origin('faults')}{PREFIX}{key}"
        raise KeyError(key)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Resolve a host name of this world. No other name exists."""
        found = [self._addresses[key].host for key, name in self._names.items() if name == host]
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, f"there is no {host} in this world")
        return found

    def tavily_url(self, bait: Sequence[str] = (), trouble: str = "") -> str:
        return with_commands(self.origin("tavily"), bait, trouble)

    def wikipedia_url(self, bait: Sequence[str] = (), trouble: str = "") -> str:
        return with_commands(self.origin(ENCYCLOPAEDIA.key), bait, trouble)

    def searxng_url(self, bait: Sequence[str] = (), trouble: str = "") -> str:
        return with_commands(self.origin("searxng"), bait, trouble)

    def environ(self, bait: Sequence[str] = (), trouble: str = "") -> dict[str, str]:
        """Environment variables that make Marchwarden use this world."""
        return {
            "TAVILY_API_KEY": self.key,
            "TAVILY_BASE_URL": self.tavily_url(bait, trouble),
            "MARCHWARDEN_ALLOW_HOSTS": self.allow_hosts,
            **self.arxiv_environ(),
        }

    def arxiv_environ(self, trouble: str = "") -> dict[str, str]:
        """Environment variables that make the arXiv researcher use this world, without arXiv's delay."""
        base = with_commands(self.origin("arxiv"), (), trouble)
        return {
            "MARCHWARDEN_ARXIV_URL": f"{base}/api/query",
            "MARCHWARDEN_ARXIV_PAGES_URL": base,
            "MARCHWARDEN_ARXIV_SECONDS": "0",
        }

    def edit(self, key: str, old: str, new: str) -> None:
        """Change the content of a page."""
        before = self._pages[key]
        after = replace(before, content=before.content.replace(old.encode(), new.encode()))
        self._pages[key] = after
        self._sites[after.site].replace(after)

    def move(self, key: str, path: str) -> None:
        """Move a page on its site and redirect the old URL."""
        before = self._pages[key]
        self._sites[before.site].move(before.path, path)
        self._pages[key] = replace(before, path=path)

    def remove(self, key: str) -> None:
        """Remove a page."""
        self._sites[self._pages[key].site].remove(self._pages[key].path)

    def _netloc(self, site: str) -> str:
        address = self._addresses[site]
        return f"{self._names[site]}:{address.port}" if self._named and site in self._names else str(address)

    def _listen(self, key: str, handler: Handler, host: str = "127.0.0.1") -> None:
        self._addresses[key] = self._server.listen(key, handler, host)

    def _populate(self, closed: str) -> None:
        self._listen(TRAP, lambda _: Reply(200, b"caught"))
        trap = f"{self.origin(TRAP)}/caught"
        self._sites = {site.key: WebSite(site, self._pages.values(), self.origin) for site in SITES}
        for site in SITES:
            if site is not ENCYCLOPAEDIA:
                self._listen(site.key, delayed(self._sites[site.key], self._page_seconds), site.address)
        self._faults = FaultSite(
            self._server.requests, FaultTargets(f"{self.origin('rivers')}/bridges/alder", trap, closed)
        )
        self._listen("faults", self._faults, FAULTS_ADDRESS)
        hosts = robot_hosts(trap)
        self._robots = tuple(hosts)
        for at, (name, handler) in enumerate(hosts.items(), FIRST_ADDRESS):
            self._listen(name, handler, f"127.0.0.{at}")
        self._serve_searches()

    def _serve_searches(self) -> None:
        searches = SearchEngine(Catalogue(tuple(self._pages.values()), self.url), self._faults, self._server.requests)
        articles = self._sites[ENCYCLOPAEDIA.key]
        self._listen(ENCYCLOPAEDIA.key, Wikipedia(searches, articles), ENCYCLOPAEDIA.address)
        self._listen("tavily", Tavily(searches, self.key, self.today))
        self._listen("searxng", SearXNG(searches, self.today))
        self._listen("arxiv", Arxiv(self._server.requests))
        for name, handler in self.models.handlers().items():
            self._listen(name, handler)
