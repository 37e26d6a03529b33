"""SearXNG: a self-hosted metasearch engine. Its `search.formats` setting must include `json`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from marchwarden.core.notebook import Hit, Query
from marchwarden.fetching import ApiClient
from marchwarden.researchers.web.models import TimeRange, hits_wanted, time_range_of
from marchwarden.researchers.web.providers.responses import (
    Day,
    Lenient,
    Line,
    ResponseModel,
    Score,
    base_url,
    parse_response,
)
from marchwarden.text.domains import normalize_domain

ADDRESS: Final = "MARCHWARDEN_SEARXNG_URL"

_REFUSALS: Final = {
    403: "does not return JSON: add json to search.formats in its settings (status 403)",
    429: "rate-limited the search (status 429)",
}


class _Result(ResponseModel):
    url: str
    title: Line = ""
    score: Score = 0.0
    publishedDate: Day = None  # noqa: N815 - SearXNG's spelling


class _Response(ResponseModel):
    results: tuple[Lenient[_Result], ...]


@dataclass(frozen=True)
class SearXNG:
    """Search one SearXNG instance."""

    api: ApiClient = field(repr=False)
    url: str

    name = "searxng"

    @property
    def settings(self) -> Mapping[str, object]:
        return {"url": self.url}

    @property
    def notice(self) -> str:
        return f"no TAVILY_API_KEY is set: the web was searched through SearXNG at {self.url}"

    async def find(self, query: Query) -> Sequence[Hit]:
        """Return pages from the time range of the query, or of any age if there are none."""
        time_range = time_range_of(query)
        found = await self._search(query, time_range)
        return found if found or time_range is None else await self._search(query, None)

    async def _search(self, query: Query, time_range: TimeRange | None) -> Sequence[Hit]:
        answer = await self.api.call("GET", f"{self.url}/search", params=_request(query, time_range))
        results = [each for each in parse_response(answer, _Response, "SearXNG", _REFUSALS).results if each is not None]
        hits = [Hit(each.url, each.title, each.score, each.publishedDate) for each in results]
        return hits[: hits_wanted(query)]


def _request(query: Query, time_range: TimeRange | None) -> Mapping[str, str]:
    domains = [normalize_domain(domain).removeprefix(".") for domain in query.domains]
    # Engines treat several `site:` terms differently, and the results are filtered here anyway.
    words = f"{query.text} site:{domains[0]}" if len(domains) == 1 else query.text
    return {"q": words, "format": "json", **({"time_range": time_range.value} if time_range else {})}


def from_environ(environ: Mapping[str, str], api: ApiClient) -> SearXNG | None:
    address = environ.get(ADDRESS, "").strip()
    return SearXNG(api, base_url(address, ADDRESS)) if address else None
