"""Wikipedia's search, the fallback without an API key. Finds only encyclopedia articles."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

from marchwarden.contract import GapCategory
from marchwarden.core.notebook import Hit, Query
from marchwarden.errors import SourceError
from marchwarden.fetching import ApiClient
from marchwarden.researchers.web.domains import host_of, is_admitted
from marchwarden.researchers.web.models import hits_wanted
from marchwarden.researchers.web.providers.responses import Lenient, Line, ResponseModel, base_url, parse_response

ADDRESS: Final = "MARCHWARDEN_WIKIPEDIA_URL"
PUBLIC: Final = "https://en.wikipedia.org"
LONGEST_QUERY: Final = 300
_RANK_FACTOR: Final = 0.9
_WORD: Final = re.compile(r"\w+(?:['’.-]\w+)*")
_SYNTAX: Final = frozenset({"AND", "OR", "NOT"})


class _Article(ResponseModel):
    title: Line


class _Search(ResponseModel):
    search: tuple[Lenient[_Article], ...] = ()


class _Response(ResponseModel):
    """A response without `query` is an error that MediaWiki sends with status 200."""

    query: _Search


@dataclass(frozen=True)
class Wikipedia:
    """Search one Wikipedia. The address selects the language: `https://de.wikipedia.org`."""

    api: ApiClient = field(repr=False)
    url: str = PUBLIC

    name = "wikipedia"

    @property
    def settings(self) -> Mapping[str, object]:
        return {"url": self.url}

    @property
    def notice(self) -> str:
        return f"no TAVILY_API_KEY is set: only Wikipedia ({host_of(self.url)}) was searched, not the whole web"

    async def find(self, query: Query) -> Sequence[Hit]:
        """Return the best articles with all the words, or with any of them if there are none."""
        if not is_admitted(self.url, query.domains):
            detail = "only Wikipedia can be searched without a key, and the source filter excludes it"
            raise SourceError(detail, GapCategory.SOURCE_NOT_FOUND)
        words = _words(query.text)
        if not words:
            return ()
        return await self._search(" ".join(words), query) or await self._search(" OR ".join(words), query)

    async def _search(self, words: str, query: Query) -> Sequence[Hit]:
        request = {
            "action": "query",
            "list": "search",
            "srsearch": words,
            "srlimit": str(hits_wanted(query)),
            "format": "json",
            "formatversion": "2",
        }
        answer = await self.api.call("GET", f"{self.url}/w/api.php", params=request)
        articles = parse_response(answer, _Response, "Wikipedia", {429: "rate-limited the search (status 429)"})
        titles = [each.title for each in articles.query.search if each is not None and each.title]
        return [Hit(self._page(title), title, _RANK_FACTOR**rank) for rank, title in enumerate(titles)]

    def _page(self, title: str) -> str:
        return f"{self.url}/wiki/{quote(title.replace(' ', '_'), safe='/:(),~')}"


def _words(text: str) -> list[str]:
    """Return only the words, so that text from a question never becomes search syntax."""
    words = _WORD.findall(text[:LONGEST_QUERY])
    return [word.lower() if word in _SYNTAX else word for word in words]


def from_environ(environ: Mapping[str, str], api: ApiClient) -> Wikipedia:
    return Wikipedia(api, base_url(environ.get(ADDRESS) or PUBLIC, ADDRESS))
