"""Fetch the full text of a paper: the HTML page if arXiv offers one, otherwise the PDF. Does not search."""

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from anyio import to_thread

from marchwarden.contract import GapCategory
from marchwarden.errors import SourceError
from marchwarden.extraction import Extracted, Extractor, Unreadable
from marchwarden.fetching import Fetcher, Page
from marchwarden.fetching.retry import TransientError
from marchwarden.researchers.arxiv.models import Endpoints, Paper
from marchwarden.researchers.arxiv.rate_limit import RateLimiter
from marchwarden.text.words import WordStemmer

HTML_SINCE: Final = date(2023, 12, 1)
"""Versions submitted since this date have an HTML page if their TeX could be converted."""
_BEGINNING: Final = 4_000
_TITLE_SHARE: Final = 0.6
_ANCHOR: Final = re.compile(rb"<a\b([^<>]{0,800})>", re.IGNORECASE)


@dataclass(frozen=True)
class PaperText:
    """The full text of a paper: the bytes as fetched, and the text extracted from them."""

    content: bytes = field(repr=False)
    extracted: Extracted


class FullText:
    """Fetch and extract papers, one at a time across all processes that share the rate limiter."""

    def __init__(self, fetcher: Fetcher, limiter: RateLimiter, extractor: Extractor, endpoints: Endpoints) -> None:
        self._fetcher = fetcher
        self._limiter = limiter
        self._extractor = extractor
        self._endpoints = endpoints
        self._stems = WordStemmer()

    async def fetch(self, paper: Paper) -> PaperText:
        """Fetch a paper in the best available format. Raise the `SourceError` of the last format tried."""
        if paper.updated >= HTML_SINCE:
            try:
                return await self._html(paper)
            except SourceError:
                # The PDF may still work.
                pass
        return await self._pdf(paper)

    def warm(self) -> None:
        self._extractor.warm()

    def close(self) -> None:
        self._extractor.close()

    async def _html(self, paper: Paper) -> PaperText:
        page = await self._get(f"{self._endpoints.pages}/html/{paper.id}")
        extracted = await self._extract(_ANCHOR.sub(_drop_internal_anchor, page.content), "paper.html")
        if extracted.media_type != "text/html" or not self._has_title(paper, extracted):
            raise SourceError("arXiv's HTML page is not this paper", GapCategory.SOURCE_NOT_FOUND)
        return PaperText(page.content, extracted)

    async def _pdf(self, paper: Paper) -> PaperText:
        page = await self._get(f"{self._endpoints.pages}/pdf/{paper.id}")
        extracted = await self._extract(page.content, "paper.pdf")
        if extracted.media_type != "application/pdf":
            raise SourceError("arXiv did not return a PDF")
        return PaperText(page.content, extracted)

    async def _get(self, address: str) -> Page:
        async with self._limiter.acquire() as slot:
            try:
                page = await self._fetcher.get(address)
            except TransientError as error:
                slot.postpone(error.retry_after or 0.0)
                raise
        if not self._endpoints.serves(page.url):
            raise SourceError("the paper's address redirected away from arXiv", GapCategory.SOURCE_NOT_FOUND)
        return page

    async def _extract(self, content: bytes, name: str) -> Extracted:
        try:
            # The extractor has its own time limit, so a run that ends need not wait for it.
            return await to_thread.run_sync(self._extractor.extract, content, name, abandon_on_cancel=True)
        except Unreadable as error:
            raise SourceError(f"could not be read: {error.detail}", error.category) from error

    def _has_title(self, paper: Paper, extracted: Extracted) -> bool:
        """Tell whether the page begins with the paper's title. A notice or a captcha does not."""
        wanted = set(self._stems.content_stems(paper.title))
        present = set(self._stems.content_stems(f"{extracted.title}\n{extracted.text[:_BEGINNING]}"))
        return len(wanted & present) >= _TITLE_SHARE * len(wanted)


def _drop_internal_anchor(anchor: re.Match[bytes]) -> bytes:
    """Remove anchors that link within the page. The extractor takes a paragraph full of `[12]` links for a menu."""
    address = anchor[1].partition(b'href="')[2].partition(b'"')[0]
    return b"" if b"#" in address else anchor[0]
