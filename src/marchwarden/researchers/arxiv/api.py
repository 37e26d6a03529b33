"""Client for the arXiv API: build queries and fetch result pages under the rate limit. Does not fetch full texts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from marchwarden.contract import GapCategory
from marchwarden.errors import SourceError
from marchwarden.fetching import ApiClient, ApiResponse
from marchwarden.fetching.connection import retry_after
from marchwarden.researchers.arxiv import atom
from marchwarden.researchers.arxiv.identifiers import ArxivId
from marchwarden.researchers.arxiv.models import Paper
from marchwarden.researchers.arxiv.rate_limit import RateLimiter, RequestSlot
from marchwarden.text.words import STOP_WORDS, folded

LARGEST_PAGE: Final = 100
MOST_IDS: Final = 40
TRIES: Final = 2
OVERLOADED_SECONDS: Final = 5.0
"""Seconds to wait when arXiv is overloaded and does not send Retry-After."""
_OK, _BAD_REQUEST, _TOO_MANY, _BROKEN = 200, 400, 429, 500
_ACCEPT: Final = {"Accept": "application/atom+xml"}
MOST_WORDS: Final = 12
_WORD: Final = re.compile(r"[^\W_]+(?:[-.'’][^\W_]+)*")
_NOT_CONTENT_WORDS: Final = """
    arxiv arxiv.org article articles author authors find literature paper papers preprint preprints published say says
"""
_NOT_CONTENT: Final = frozenset(_NOT_CONTENT_WORDS.split())
"""Words about papers: they apply to every paper and appear in no abstract."""


class ArxivApi:
    """Fetch papers by query or by id. Every request waits for the rate limiter, so the client must not retry itself."""

    def __init__(self, client: ApiClient, limiter: RateLimiter, url: str, *, page: int = LARGEST_PAGE) -> None:
        self._client = client
        self._limiter = limiter
        self._url = url
        self._page = page

    async def search(self, query: str, limit: int) -> Sequence[Paper]:
        """Return the papers that match a query in arXiv's syntax, most relevant first, without duplicates."""
        found: dict[str, Paper] = {}
        start = 0
        while start < limit:
            size = str(min(self._page, limit - start))
            order = {"sortBy": "relevance", "sortOrder": "descending"}
            feed = await self._fetch_page({"search_query": query, "start": str(start), "max_results": size, **order})
            for paper in feed.papers:
                found.setdefault(paper.id.number, paper)
            start += feed.entries
            if not feed.entries or start >= feed.total:
                break
        return tuple(found.values())[:limit]

    async def papers_by_id(self, ids: Sequence[ArxivId]) -> Sequence[Paper]:
        """Return the papers that exist, in the order of `ids`.

        A specific version is requested together with the latest: withdrawing a paper withdraws all its versions.
        """
        wanted = ids[:MOST_IDS]
        names = dict.fromkeys(str(name) for each in wanted for name in (each, each.latest))
        feed = await self._fetch_page({"id_list": ",".join(names), "start": "0", "max_results": str(len(names))})
        known = {str(paper.id): paper for paper in feed.papers}
        newest = _newest(feed.papers)
        found = (known.get(str(each)) if each.version else newest.get(each.number) for each in wanted)
        return tuple(_with_latest_withdrawal(paper, newest[paper.id.number]) for paper in found if paper)

    async def _fetch_page(self, params: Mapping[str, str]) -> atom.Feed:
        """Fetch one page. Retry once if arXiv is overloaded or returns an empty page by mistake."""
        for attempt in range(1, TRIES + 1):
            async with self._limiter.acquire() as slot:
                answer = await self._client.call("GET", self._url, params=params, headers=_ACCEPT)
                temporary = _is_temporary(answer)
                if temporary:
                    slot.postpone(_pause_after(answer, slot))
            if temporary:
                if attempt == TRIES:
                    raise SourceError(f"arXiv is overloaded (status {answer.status}); try again later")
                continue
            feed = _parse_answer(answer)
            if feed.entries or feed.total <= feed.start:
                return feed
        raise SourceError(f"arXiv reported {feed.total} matching papers but listed none; try again later")


def _with_latest_withdrawal(paper: Paper, newest: Paper) -> Paper:
    return replace(paper, withdrawn=True, comment=newest.comment or newest.abstract) if newest.withdrawn else paper


def _newest(papers: Sequence[Paper]) -> Mapping[str, Paper]:
    newest: dict[str, Paper] = {}
    for paper in papers:
        known = newest.get(paper.id.number)
        if known is None or (paper.id.version or 0) > (known.id.version or 0):
            newest[paper.id.number] = paper
    return newest


def _is_temporary(answer: ApiResponse) -> bool:
    return answer.status == _TOO_MANY or answer.status >= _BROKEN


def _pause_after(answer: ApiResponse, slot: RequestSlot) -> float:
    after = retry_after(answer.headers)
    return max(slot.pause, OVERLOADED_SECONDS if slot.pause else 0.0) if after is None else after


def _parse_answer(answer: ApiResponse) -> atom.Feed:
    """Parse a feed. arXiv reports errors as a feed with status 400, formerly 200."""
    if answer.status not in (_OK, _BAD_REQUEST):
        raise SourceError(f"arXiv refused the request (status {answer.status})")
    feed = atom.parse_feed(answer.content)
    if answer.status == _BAD_REQUEST:
        raise SourceError("arXiv could not parse the request", GapCategory.SOURCE_NOT_FOUND)
    return feed


def content_words(text: str) -> tuple[str, ...]:
    """Return the words worth searching for, without duplicates and without arXiv ids."""
    words = (word.replace("’", "'").removesuffix("'s") for word in _WORD.findall(folded(ArxivId.remove_from(text))))
    return tuple(dict.fromkeys(word for word in words if word not in STOP_WORDS and word not in _NOT_CONTENT))[
        :MOST_WORDS
    ]


def match_all(words: Sequence[str]) -> str:
    return " AND ".join(map(_term, words))


def match_any(words: Sequence[str]) -> str:
    return " OR ".join(map(_term, words))


def _term(word: str) -> str:
    """Match the word in any field. A compound becomes a phrase, because arXiv reads its hyphen as an operator."""
    return f"all:{word}" if word.isalnum() else 'all:"{}"'.format(" ".join(re.findall(r"[^\W_]+", word)))
