"""Shared code of the search services: finding pages by shared words, and faults.

A base URL may contain commands: `/bait/drip,login` puts these pages first in every result, and `/trouble/<name>`
makes the response faulty. So a test only needs a URL to select a fault.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final
from urllib.parse import urlsplit
from zlib import crc32

from tests.world.faults import PREFIX, FaultSite
from tests.world.server import Behaviour, Reply, Request
from tests.world.site import Page

JSON: Final = ("Content-Type", "application/json")
SNIPPET: Final = 300
_COMMON: Final = "a an and are by did do does for how in is it its of on the to was were what when who"
STOP_WORDS: Final = frozenset(_COMMON.split())

_COMMANDS: Final = re.compile(r"(?:/bait/(?P<bait>[^/]+))?(?:/trouble/(?P<trouble>[^/]+))?(?P<path>/.*)")
_WRONG_ROWS: Final[list[object]] = [
    7,
    None,
    "text",
    [],
    {},
    {"url": 7, "title": None, "content": ["x"], "score": "high"},
]
BAD_BODIES: Final[Mapping[str, bytes]] = {
    "invalid-json": b'{"results": [{"url": "http://',
    "not-json": b"<html><body>It works!</body></html>",
    "json-list": b"[]",
    "json-null": b"null",
    "json-empty": b"{}",
    "json-deep": b"[" * 100_000,
    "json-latin1": '{"results": [{"title": "Brücke"}]}'.encode("latin-1"),
    "wrong-types": json.dumps({"results": _WRONG_ROWS, "query": {"search": _WRONG_ROWS}}).encode(),
    "null-results": b'{"results": null, "query": null}',
}
HOSTILE_ADDRESSES: Final = (
    "javascript:alert(1)",
    "file:///etc/passwd",
    "http://169.254.169.254/latest/meta-data/",
    "http://user:password@127.0.0.1/",
    "http://[::1",
    "http://127.0.0.1:1/\r\nX-Injected: yes",
    "//no-scheme.example/",
    "",
    "http://long.example/" + "a" * 20_000,
)


OWN_ADDRESSES: Final = "own-addresses"
"""Not a fault: every query gets its own URLs for the pages, so that the log shows which query led to a fetch."""


@dataclass(frozen=True)
class SearchHit:
    """A search result, independent of the service's format. The score is between 0 and 1."""

    url: str
    title: str
    content: str
    score: float
    published: date | None = None
    page: Page | None = None


class Catalogue:
    """Finds listed pages by the words they share with a query. Rare words count more."""

    def __init__(self, pages: Sequence[Page], place: Callable[[str], str]) -> None:
        self._pages = {page.key: page for page in pages}
        self._place = place
        self._terms = {page.key: words(f"{page.title} {page.words}") for page in pages}
        self._titles = {page.key: words(page.title) for page in pages}

    def find(self, query: str) -> list[SearchHit]:
        wanted = words(query)
        scored = [(self._score(wanted, page.key), page) for page in self._pages.values() if not page.unlisted]
        ranked = sorted(scored, key=lambda each: (-each[0], each[1].key))
        return [self._found(page, score) for score, page in ranked if score]

    def _score(self, wanted: frozenset[str], key: str) -> float:
        """A word in the title counts twice."""
        most = 2 * sum(map(self._rarity, wanted)) or 1.0
        return sum(self._rarity(word) for found in (self._terms, self._titles) for word in wanted & found[key]) / most

    def at(self, url: str) -> Page | None:
        return next((page for page in self._pages.values() if self._place(page.key) == url), None)

    def bait(self, name: str, query: str) -> SearchHit:
        """A page or fault, presented as a perfect result."""
        page = self._pages.get(name)
        if page:
            return self._found(page, 1.0)
        return SearchHit(self._place(name), f"All about {query}", f"Everything about this: {query}", 1.0)

    def _found(self, page: Page, score: float) -> SearchHit:
        snippet = page.words[:SNIPPET]
        return SearchHit(self._place(page.key), page.title, snippet, round(score, 6), page.published, page)

    def _rarity(self, word: str) -> float:
        holding = sum(1 for terms in self._terms.values() if word in terms)
        return math.log(1 + len(self._terms) / (1 + holding))


def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.casefold())) - STOP_WORDS


@dataclass(frozen=True)
class SearchRequest:
    """A search request: its path without the commands, and the commands."""

    path: str
    baits: tuple[str, ...] = ()
    trouble: str = ""

    @classmethod
    def parse(cls, request: Request) -> "SearchRequest":
        match = _COMMANDS.fullmatch(request.path)
        if match is None:
            return cls(request.path)
        baits = tuple(match["bait"].split(",")) if match["bait"] else ()
        return cls(match["path"], baits, match["trouble"] or "")


def with_commands(base: str, bait: Sequence[str] = (), trouble: str = "") -> str:
    """Add commands to a base URL."""
    return base + (f"/bait/{','.join(bait)}" if bait else "") + (f"/trouble/{trouble}" if trouble else "")


class SearchEngine:
    """Answers a query with results or with the requested fault, independent of the service's format."""

    def __init__(self, catalogue: Catalogue, faults: FaultSite, requests: Sequence[Request]) -> None:
        self._catalogue = catalogue
        self._faults = faults
        self._requests = requests

    def fault_reply(self, request: Request, command: SearchRequest) -> Reply | Behaviour | None:
        """The reply for the requested fault, or None to answer normally."""
        if command.trouble in BAD_BODIES:
            return Reply(200, BAD_BODIES[command.trouble], (JSON,))
        if command.trouble in ("flaky", "soon") and self._count(request) > 1:
            return None
        if command.trouble in self._faults.names:
            return self._faults(Request(request.site, "GET", f"{PREFIX}{command.trouble}", {}))
        return None

    def page_at(self, url: str) -> Page | None:
        return self._catalogue.at(url)

    def results(self, query: str, command: SearchRequest) -> list[SearchHit]:
        if command.trouble == "empty-results":
            return []
        found = self._catalogue.find(query)
        if command.trouble == "hostile-addresses":
            found = [SearchHit(url, "The Alder Bridge", query, 1.0) for url in HOSTILE_ADDRESSES] + found
        if command.trouble == OWN_ADDRESSES:
            found = [replace(each, url=f"{each.url}?asked={crc32(query.encode()):08x}") for each in found]
        if command.trouble == "broken-text":
            found = [SearchHit(each.url, f"\ud800{each.title}", f"{each.content}\udfff", each.score) for each in found]
        baited = [self._catalogue.bait(name, query) for name in command.baits]
        return baited + [each for each in found if each.url not in {bait.url for bait in baited}]

    def _count(self, request: Request) -> int:
        return sum(1 for each in self._requests if each.site == request.site and each.target == request.target)


def within(url: str, domains: Sequence[str]) -> bool:
    """Whether a host is one of the domains or a subdomain. `.gov`, `gov` and `*.gov` are equivalent."""
    try:
        parts = urlsplit(url)
    except ValueError:  # one of the hostile addresses
        return False
    host = parts.hostname or ""
    bare = [domain.casefold().removeprefix("*").removeprefix(".") for domain in domains]
    return any(host == domain or host.endswith(f".{domain}") or parts.netloc == domain for domain in bare)


def json_reply(value: object, status: int = 200, *headers: tuple[str, str]) -> Reply:
    # ASCII only: a lone surrogate is sent as an escape, as real services do.
    return Reply(status, json.dumps(value).encode(), (JSON, *headers))
