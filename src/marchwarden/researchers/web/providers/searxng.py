"""SearXNG: a metasearch engine that one runs oneself. It must have `json` among its `search.formats`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from marchwarden.core.notebook import Hit, Query
from marchwarden.fetching import ApiClient
from marchwarden.researchers.web.domains import plain_domain
from marchwarden.researchers.web.models import Span, hits_wanted, span_of
from marchwarden.researchers.web.providers.responses import Day, Lenient, Line, Part, Score, base_url, parsed

ADDRESS: Final = "MARCHWARDEN_SEARXNG_URL"

_REFUSALS: Final = {
    403: "does not answer in JSON: its operator must add json to search.formats (status 403)",
    429: "was asked too often and wants a pause (status 429)",
}


class _Result(Part):
    url: str
    title: Line = ""
    score: Score = 0.0
    publishedDate: Day = None  # noqa: N815 - SearXNG's spelling


class _Found(Part):
    results: tuple[Lenient[_Result], ...]


@dataclass(frozen=True)
class SearXNG:
    """Asks one SearXNG instance."""

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
        """The pages it finds, of the time the query asks for; of any time where that time has none."""
        span = span_of(query)
        found = await self._asked(query, span)
        return found if found or span is None else await self._asked(query, None)

    async def _asked(self, query: Query, span: Span | None) -> Sequence[Hit]:
        answer = await self.api.call("GET", f"{self.url}/search", params=_request(query, span))
        results = [each for each in parsed(answer, _Found, "SearXNG", _REFUSALS).results if each is not None]
        hits = [Hit(each.url, each.title, each.score, each.publishedDate) for each in results]
        return hits[: hits_wanted(query)]


def _request(query: Query, span: Span | None) -> Mapping[str, str]:
    domains = [plain_domain(domain).removeprefix(".") for domain in query.domains]
    # Engines disagree about several sites in one search; the filter on our side decides anyway.
    words = f"{query.text} site:{domains[0]}" if len(domains) == 1 else query.text
    return {"q": words, "format": "json", **({"time_range": span.value} if span else {})}


def offered(environ: Mapping[str, str], api: ApiClient) -> SearXNG | None:
    address = environ.get(ADDRESS, "").strip()
    return SearXNG(api, base_url(address, ADDRESS)) if address else None
