"""Tavily: a web search API for agents. Requires an API key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from marchwarden.contract import Depth
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

KEY: Final = "TAVILY_API_KEY"
ADDRESS: Final = "TAVILY_BASE_URL"
PUBLIC: Final = "https://api.tavily.com"
LONGEST_QUERY: Final = 400
MOST_DOMAINS: Final = 300

_REFUSALS: Final = {
    400: "rejected the search as invalid (status 400)",
    401: f"refused the key in {KEY} (status 401)",
    403: "does not allow this search with this key (status 403)",
    429: "rate-limited the search (status 429)",
    432: "says the key's plan is used up (status 432)",
    433: "says the pay-as-you-go limit is reached (status 433)",
}


class _Result(ResponseModel):
    """One page found. `raw_content` is ignored: only pages we fetch ourselves are cited."""

    url: str
    title: Line = ""
    score: Score = 0.0
    published_date: Day = None


class _Response(ResponseModel):
    results: tuple[Lenient[_Result], ...]


@dataclass(frozen=True)
class Tavily:
    """Search with Tavily. The key is sent in a header and never shown."""

    api: ApiClient = field(repr=False)
    key: str = field(repr=False)
    url: str = PUBLIC

    name = "tavily"
    notice = ""

    @property
    def settings(self) -> Mapping[str, object]:
        return {"url": self.url}

    async def find(self, query: Query) -> Sequence[Hit]:
        """Return pages from the time range of the query, or of any age if there are none."""
        time_range = time_range_of(query)
        found = await self._search(query, time_range)
        return found if found or time_range is None else await self._search(query, None)

    async def _search(self, query: Query, time_range: TimeRange | None) -> Sequence[Hit]:
        answer = await self.api.call(
            "POST",
            f"{self.url}/search",
            json=_request(query, time_range),
            headers={"authorization": f"Bearer {self.key}"},
        )
        results = parse_response(answer, _Response, "Tavily", _REFUSALS).results
        return [Hit(each.url, each.title, each.score, each.published_date) for each in results if each is not None]


def _request(query: Query, time_range: TimeRange | None) -> Mapping[str, object]:
    request: dict[str, object] = {
        "query": query.text[:LONGEST_QUERY],
        "search_depth": "advanced" if query.depth is Depth.DEEP else "basic",
        "topic": "general",
        "max_results": hits_wanted(query),
    }
    domains = [_to_tavily_domain(plain) for domain in query.domains if (plain := normalize_domain(domain))]
    if domains:
        request["include_domains"] = domains[:MOST_DOMAINS]
    if time_range is not None:
        request["time_range"] = time_range.value
    return request


def _to_tavily_domain(domain: str) -> str:
    return f"*{domain}" if domain.startswith(".") else domain


def from_environ(environ: Mapping[str, str], api: ApiClient) -> Tavily | None:
    key = environ.get(KEY, "").strip()
    return Tavily(api, key, base_url(environ.get(ADDRESS) or PUBLIC, ADDRESS)) if key else None
