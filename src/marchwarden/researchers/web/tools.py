"""WebSource: the open web as a source of evidence. Does not know minds, budgets or traces."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import urljoin

from anyio import to_thread

from marchwarden.contract import GapCategory
from marchwarden.core.notebook import Document, Hit, Link, Query
from marchwarden.errors import SourceError
from marchwarden.extraction import Extracted, Extractor, Unreadable
from marchwarden.fetching import Fetcher, Page
from marchwarden.protocols import StatusCallback
from marchwarden.researchers.web.domains import authority_of, host_of, is_admitted, site_of
from marchwarden.researchers.web.media_type import file_name_for, to_utf8
from marchwarden.researchers.web.models import Provider
from marchwarden.researchers.web.urls import canonical, identity
from marchwarden.researchers.web.walls import refuse_wall
from marchwarden.text.sanitize import one_line
from marchwarden.text.secrets import has_credentials


class WebSource:
    """Find pages with a provider, fetch them and extract their text. Several runs may share one source."""

    def __init__(self, provider: Provider, fetcher: Fetcher, extractor: Extractor) -> None:
        self._provider = provider
        self._fetcher = fetcher
        self._extractor = extractor
        self._notices: dict[str, str] = {}

    @property
    def name(self) -> str:
        return "web"

    @property
    def settings(self) -> Mapping[str, object]:
        return {"provider": self._provider.name, **self._provider.settings}

    async def ready(self, report: StatusCallback) -> None:
        self._notices.clear()
        await report(f"Searching the web with {self._provider.name}")
        await to_thread.run_sync(self._extractor.warm)

    def guide(self) -> str:
        return ""

    async def search(self, query: Query) -> Sequence[Hit]:
        """Return the admitted pages without duplicates. Further pages of the same site are ranked lower.

        Results with secrets are left out, and a notice says so.
        """
        found = await self._provider.find(query)
        return rank_hits([hit for hit in found if not self._has_secret(hit)], query)

    async def fetch(self, hit: Hit) -> Document:
        """Fetch the page of a hit as a document. Raise `SourceError` for a login page, a paywall or the like."""
        page = await self._fetcher.get(hit.locator)
        _refuse_filtered_redirect(page, hit)
        # The extractor has its own time limit, so a run that ends need not wait for it.
        extracted = await to_thread.run_sync(self._extract, page, hit.title, abandon_on_cancel=True)
        refuse_wall(extracted)
        return _document(page, extracted, hit)

    def _has_secret(self, hit: Hit) -> bool:
        """Whether a search result contains one of the user's keys or another user's credentials."""
        if self._fetcher.settings.keys.found_in(hit.locator, hit.title):
            self._notices["keys"] = "search results that contain one of your API keys were left out: replace this key"
            return True
        if has_credentials(hit.locator):
            self._notices["credentials"] = "search results were left out, because their addresses contain credentials"
            return True
        return False

    def _refuse_keys(self, page: Extracted) -> None:
        """Raise `SourceError` if the page contains one of the user's keys, so that it is never quoted or recorded."""
        links = (text for link in page.links for text in (link.url, link.text))
        if self._fetcher.settings.keys.found_in(page.title, page.author, page.text, *links):
            raise SourceError("not quoted: the page contains one of the configured API keys")

    def _extract(self, page: Page, title: str) -> Extracted:
        try:
            extracted = self._extractor.extract(to_utf8(page), file_name_for(page, title))
        except Unreadable as error:
            raise SourceError(f"could not be read: {error.detail}", error.category) from error
        self._refuse_keys(extracted)
        return extracted

    def notices(self) -> Sequence[str]:
        return tuple(filter(None, (self._provider.notice, *self._notices.values())))

    def close(self) -> None:
        """Stop the extractor's processes. They start again on the next use."""
        self._extractor.close()


def _refuse_filtered_redirect(page: Page, hit: Hit) -> None:
    """Refuse a redirect to a site that the source filter excludes."""
    if not is_admitted(page.url, hit.domains):
        where = one_line(host_of(page.url), 100)
        raise SourceError(f"redirected to {where}, which the source filter excludes", GapCategory.SOURCE_NOT_FOUND)


def _document(page: Page, extracted: Extracted, hit: Hit) -> Document:
    if not extracted.text.strip():
        raise SourceError("the page contains no text", GapCategory.SOURCE_NOT_FOUND)
    address = canonical(page.url) or page.url
    # A signed address expires. The one that redirected to it leads every reader to the page.
    locator = hit.locator if has_credentials(address) else address
    return replace(
        extracted.to_document("web", locator, page.content),
        published=extracted.published or hit.published,
        authority=authority_of(locator),
        links=absolute_links(extracted.links, address),
    )


SAME_SITE_FACTOR: Final = 0.5
"""Weight of each further page of a site. A page from another site is worth more than a second one from the same."""


def rank_hits(hits: Iterable[Hit], query: Query) -> tuple[Hit, ...]:
    """Return the admitted hits under their canonical addresses, best first. The best has score 1."""
    known = _deduplicate(hits, query)
    best = max((hit.score for hit in known), default=0.0)
    seen_per_site: Counter[str] = Counter()
    scored: list[Hit] = []
    for hit in known:
        site = site_of(hit.locator)
        relative = hit.score / best if best > 0 else 1.0
        scored.append(
            replace(hit, score=round(relative * SAME_SITE_FACTOR ** seen_per_site[site], 6), domains=query.domains)
        )
        seen_per_site[site] += 1
    return tuple(sorted(scored, key=lambda hit: -hit.score))


def _deduplicate(hits: Iterable[Hit], query: Query) -> list[Hit]:
    best: dict[str, Hit] = {}
    for hit in sorted(hits, key=lambda hit: -hit.score):
        address = canonical(hit.locator)
        if address is not None and is_admitted(address, query.domains):
            best.setdefault(identity(address), replace(hit, locator=address))
    return list(best.values())


MOST_LINKS: Final = 100


def absolute_links(links: Iterable[Link], page: str) -> tuple[Link, ...]:
    """Return a page's links as canonical absolute addresses, without duplicates, credentials or the page itself."""
    found: dict[str, Link] = {}
    for link in links:
        address = _join_url(page, link.url)
        if address is not None and identity(address) != identity(page) and not has_credentials(address):
            found.setdefault(identity(address), Link(address, link.text))
    return tuple(found.values())[:MOST_LINKS]


def _join_url(page: str, url: str) -> str | None:
    try:
        return canonical(urljoin(page, url))
    except ValueError:
        return None
