"""The whole world on loopback: the small web, the search services, the models, the faults, and a place not to reach."""

import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, date, datetime
from types import TracebackType
from typing import Final, Self

from tests.world.arxiv import Arxiv
from tests.world.faults import PREFIX, FaultSite, Nearby
from tests.world.model_house import ModelHouse
from tests.world.models import ModelLog
from tests.world.pages import ENCYCLOPAEDIA, SITES, pages
from tests.world.robots import FIRST_ADDRESS, robot_hosts
from tests.world.searching import Catalogue, Searches, commanded
from tests.world.searxng import SearXNG
from tests.world.server import Address, Handler, Reply, Request, Server
from tests.world.site import Page
from tests.world.tavily import Tavily
from tests.world.web import WebSite, slowly
from tests.world.wikipedia import Wikipedia

KEY: Final = "tvly-world-key"
FAULTS_ADDRESS: Final = "127.0.0.9"
TRAP: Final = "trap"
NOT_OPENED: Final = (TRAP, "anthropic", "openai")
"""Nobody fetches pages from these: the models are asked, and never read."""


class World:
    """Runs between `with` and its end. Every site has a loopback address of its own, so the product runs unmodified.

    A `named` world writes addresses with host names (`rivers.senn.gov`) instead, for a fetcher that is given `resolve`.
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
        self.models: Final = ModelHouse(self.origin)
        self._server = Server()
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opening:
            opening.enter_context(self._server)
            # Bound and never listening: connections to it are refused, and nobody else can take the port.
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
        """Every request so far, in order of arrival, except those of the trap: it is no part of the web."""
        return [request for request in self._server.requests if request.site != TRAP]

    @property
    def trespasses(self) -> int:
        """Connections made to the place that no allowed host leads to. It must stay at nought."""
        return self._server.connections.count(TRAP)

    @property
    def model_log(self) -> ModelLog:
        """What the models were asked and what they billed, by their own books."""
        return self.models.log

    @property
    def pages(self) -> Mapping[str, Page]:
        return self._pages

    @property
    def faults(self) -> tuple[str, ...]:
        return (*self._faults.names, *self._robots)

    @property
    def allow_hosts(self) -> str:
        """What an operator opens for this world: every site, and neither the trap nor the models."""
        return ",".join(self._netloc(key) for key in self._addresses if key not in NOT_OPENED)

    def asked(self, site: str) -> list[str]:
        """The targets a site was asked for."""
        return [request.target for request in self.requests if request.site == site]

    def origin(self, site: str) -> str:
        return f"http://{self._netloc(site)}"

    def url(self, key: str) -> str:
        """Where a page, a fault or a host with a troublesome robots.txt is found."""
        if key in self._pages:
            return self.origin(self._pages[key].site) + self._pages[key].path
        if key in self._robots:
            return f"{self.origin(key)}/page"
        if key in self._faults.names:
            return f"{self.origin('faults')}{PREFIX}{key}"
        raise KeyError(key)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """The addresses of a host name of this world, as a resolver gives them; no other name exists."""
        found = [self._addresses[key].host for key, name in self._names.items() if name == host]
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, f"there is no {host} in this world")
        return found

    def tavily_url(self, bait: Sequence[str] = (), trouble: str = "") -> str:
        return commanded(self.origin("tavily"), bait, trouble)

    def wikipedia_url(self, bait: Sequence[str] = (), trouble: str = "") -> str:
        return commanded(self.origin(ENCYCLOPAEDIA.key), bait, trouble)

    def searxng_url(self, bait: Sequence[str] = (), trouble: str = "") -> str:
        return commanded(self.origin("searxng"), bait, trouble)

    def environ(self, bait: Sequence[str] = (), trouble: str = "") -> dict[str, str]:
        """What to set so that the product lives in this world."""
        return {
            "TAVILY_API_KEY": self.key,
            "TAVILY_BASE_URL": self.tavily_url(bait, trouble),
            "MARCHWARDEN_ALLOW_HOSTS": self.allow_hosts,
            **self.arxiv_environ(),
        }

    def arxiv_environ(self, trouble: str = "") -> dict[str, str]:
        """What leads the arXiv researcher here, and frees it from the pause that arXiv itself asks for."""
        base = commanded(self.origin("arxiv"), (), trouble)
        return {
            "MARCHWARDEN_ARXIV_URL": f"{base}/api/query",
            "MARCHWARDEN_ARXIV_PAGES_URL": base,
            "MARCHWARDEN_ARXIV_SECONDS": "0",
        }

    def edit(self, key: str, old: str, new: str) -> None:
        """A page says something else from now on."""
        before = self._pages[key]
        after = replace(before, content=before.content.replace(old.encode(), new.encode()))
        self._pages[key] = after
        self._sites[after.site].replace(after)

    def move(self, key: str, path: str) -> None:
        """A page is elsewhere on its site from now on, and its old address leads there."""
        before = self._pages[key]
        self._sites[before.site].move(before.path, path)
        self._pages[key] = replace(before, path=path)

    def remove(self, key: str) -> None:
        """A page is not found from now on."""
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
                self._listen(site.key, slowly(self._sites[site.key], self._page_seconds), site.address)
        self._faults = FaultSite(self._server.requests, Nearby(f"{self.origin('rivers')}/bridges/alder", trap, closed))
        self._listen("faults", self._faults, FAULTS_ADDRESS)
        hosts = robot_hosts(trap)
        self._robots = tuple(hosts)
        for at, (name, handler) in enumerate(hosts.items(), FIRST_ADDRESS):
            self._listen(name, handler, f"127.0.0.{at}")
        self._serve_searches()

    def _serve_searches(self) -> None:
        searches = Searches(Catalogue(tuple(self._pages.values()), self.url), self._faults, self._server.requests)
        articles = self._sites[ENCYCLOPAEDIA.key]
        self._listen(ENCYCLOPAEDIA.key, Wikipedia(searches, articles), ENCYCLOPAEDIA.address)
        self._listen("tavily", Tavily(searches, self.key, self.today))
        self._listen("searxng", SearXNG(searches, self.today))
        self._listen("arxiv", Arxiv(self._server.requests))
        for name, handler in self.models.handlers().items():
            self._listen(name, handler)
