"""Tavily: web search made for agents, with a key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from marchwarden.contract import Depth
from marchwarden.core.notebook import Hit, Query
from marchwarden.fetching import ApiClient
from marchwarden.researchers.web.domains import plain_domain
from marchwarden.researchers.web.models import Span, hits_wanted, span_of
from marchwarden.researchers.web.providers.responses import Day, Lenient, Line, Part, Score, base_url, parsed

KEY: Final = "TAVILY_API_KEY"
ADDRESS: Final = "TAVILY_BASE_URL"
PUBLIC: Final = "https://api.tavily.com"
LONGEST_QUERY: Final = 400
MOST_DOMAINS: Final = 300

_REFUSALS: Final = {
    400: "could not make sense of the search (status 400)",
    401: f"refused the key in {KEY} (status 401)",
    403: "does not allow this search with this key (status 403)",
    429: "was asked too often and wants a pause (status 429)",
    432: "says the key's plan is used up (status 432)",
    433: "says the pay-as-you-go limit is reached (status 433)",
}


class _Result(Part):
    """One page found. `raw_content` is left where it is: what is cited is what we fetch ourselves."""

    url: str
    title: Line = ""
    score: Score = 0.0
    published_date: Day = None


class _Found(Part):
    results: tuple[Lenient[_Result], ...]


@dataclass(frozen=True)
class Tavily:
    """Asks Tavily. The key travels in a header and is shown nowhere."""

    api: ApiClient = field(repr=False)
    key: str = field(repr=False)
    url: str = PUBLIC

    name = "tavily"
    notice = ""

    @property
    def settings(self) -> Mapping[str, object]:
        return {"url": self.url}

    async def find(self, query: Query) -> Sequence[Hit]:
        """The pages Tavily finds, of the time the query asks for; of any time where that time has none."""
        span = span_of(query)
        found = await self._asked(query, span)
        return found if found or span is None else await self._asked(query, None)

    async def _asked(self, query: Query, span: Span | None) -> Sequence[Hit]:
        answer = await self.api.call(
            "POST",
            f"{self.url}/search",
            json=_request(query, span),
            headers={"authorization": f"Bearer {self.key}"},
        )
        results = parsed(answer, _Found, "Tavily", _REFUSALS).results
        return [Hit(each.url, each.title, each.score, each.published_date) for each in results if each is not None]


def _request(query: Query, span: Span | None) -> Mapping[str, object]:
    request: dict[str, object] = {
        "query": query.text[:LONGEST_QUERY],
        "search_depth": "advanced" if query.depth is Depth.DEEP else "basic",
        "topic": "general",
        "max_results": hits_wanted(query),
    }
    domains = [_as_tavily_writes(plain) for domain in query.domains if (plain := plain_domain(domain))]
    if domains:
        request["include_domains"] = domains[:MOST_DOMAINS]
    if span is not None:
        request["time_range"] = span.value
    return request


def _as_tavily_writes(domain: str) -> str:
    return f"*{domain}" if domain.startswith(".") else domain


def offered(environ: Mapping[str, str], api: ApiClient) -> Tavily | None:
    key = environ.get(KEY, "").strip()
    return Tavily(api, key, base_url(environ.get(ADDRESS) or PUBLIC, ADDRESS)) if key else None
