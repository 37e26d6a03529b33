"""What the search services of the world share: finding pages by shared words, and failing on command.

A base address may carry commands: `/bait/drip,login` puts those places on top of every answer, and `/trouble/<name>`
spoils the answer itself. So a test, or a person, needs nothing but an address to ask for trouble.
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
"""No trouble: every query is led to the pages by addresses of its own, so that the log tells who fetched them."""


@dataclass(frozen=True)
class Found:
    """A search result before it is put into any service's words. The score is between 0 and 1."""

    url: str
    title: str
    content: str
    score: float
    published: date | None = None
    page: Page | None = None


class Catalogue:
    """Every listed page of the world, found by the words it shares with a query; rare words count for more."""

    def __init__(self, pages: Sequence[Page], place: Callable[[str], str]) -> None:
        self._pages = {page.key: page for page in pages}
        self._place = place
        self._terms = {page.key: words(f"{page.title} {page.words}") for page in pages}
        self._titles = {page.key: words(page.title) for page in pages}

    def find(self, query: str) -> list[Found]:
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

    def bait(self, name: str, query: str) -> Found:
        """A page or fault dressed as the best result there could be."""
        page = self._pages.get(name)
        if page:
            return self._found(page, 1.0)
        return Found(self._place(name), f"All about {query}", f"Everything about this: {query}", 1.0)

    def _found(self, page: Page, score: float) -> Found:
        snippet = page.words[:SNIPPET]
        return Found(self._place(page.key), page.title, snippet, round(score, 6), page.published, page)

    def _rarity(self, word: str) -> float:
        holding = sum(1 for terms in self._terms.values() if word in terms)
        return math.log(1 + len(self._terms) / (1 + holding))


def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.casefold())) - STOP_WORDS


@dataclass(frozen=True)
class Errand:
    """What is asked of a search service, its commands taken off the path."""

    path: str
    baits: tuple[str, ...] = ()
    trouble: str = ""

    @classmethod
    def of(cls, request: Request) -> "Errand":
        match = _COMMANDS.fullmatch(request.path)
        if match is None:
            return cls(request.path)
        baits = tuple(match["bait"].split(",")) if match["bait"] else ()
        return cls(match["path"], baits, match["trouble"] or "")


def commanded(base: str, bait: Sequence[str] = (), trouble: str = "") -> str:
    """A base address that carries commands."""
    return base + (f"/bait/{','.join(bait)}" if bait else "") + (f"/trouble/{trouble}" if trouble else "")


class Searches:
    """Answers a query with results, or with the trouble that was asked for. Knows no service's format."""

    def __init__(self, catalogue: Catalogue, faults: FaultSite, requests: Sequence[Request]) -> None:
        self._catalogue = catalogue
        self._faults = faults
        self._requests = requests

    def spoiled(self, request: Request, errand: Errand) -> Reply | Behaviour | None:
        """The answer of a service that is in trouble; None when it may answer after all."""
        if errand.trouble in BAD_BODIES:
            return Reply(200, BAD_BODIES[errand.trouble], (JSON,))
        if errand.trouble in ("flaky", "soon") and self._asked(request) > 1:
            return None
        if errand.trouble in self._faults.names:
            return self._faults(Request(request.site, "GET", f"{PREFIX}{errand.trouble}", {}))
        return None

    def page_at(self, url: str) -> Page | None:
        return self._catalogue.at(url)

    def results(self, query: str, errand: Errand) -> list[Found]:
        if errand.trouble == "empty-results":
            return []
        found = self._catalogue.find(query)
        if errand.trouble == "hostile-addresses":
            found = [Found(url, "The Alder Bridge", query, 1.0) for url in HOSTILE_ADDRESSES] + found
        if errand.trouble == OWN_ADDRESSES:
            found = [replace(each, url=f"{each.url}?asked={crc32(query.encode()):08x}") for each in found]
        if errand.trouble == "broken-text":
            found = [Found(each.url, f"\ud800{each.title}", f"{each.content}\udfff", each.score) for each in found]
        baited = [self._catalogue.bait(name, query) for name in errand.baits]
        return baited + [each for each in found if each.url not in {bait.url for bait in baited}]

    def _asked(self, request: Request) -> int:
        return sum(1 for each in self._requests if each.site == request.site and each.target == request.target)


def within(url: str, domains: Sequence[str]) -> bool:
    """Whether a host is one of the domains or below one; `.gov`, `gov` and `*.gov` say the same."""
    try:
        parts = urlsplit(url)
    except ValueError:  # one of the hostile addresses
        return False
    host = parts.hostname or ""
    bare = [domain.casefold().removeprefix("*").removeprefix(".") for domain in domains]
    return any(host == domain or host.endswith(f".{domain}") or parts.netloc == domain for domain in bare)


def answered(value: object, status: int = 200, *headers: tuple[str, str]) -> Reply:
    # ASCII only: a lone surrogate travels as an escape, as it does from real services.
    return Reply(status, json.dumps(value).encode(), (JSON, *headers))
