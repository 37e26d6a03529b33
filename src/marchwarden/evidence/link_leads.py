"""Links of the documents that carried an answer, for other researchers to follow. Only reports; nothing is fetched.

What the passages themselves say is the business of `discoveries`; here it is what their pages link to.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import unquote, urlsplit

from marchwarden.contract import DiscoveryEvent, DiscoveryType
from marchwarden.core.notebook import Document, Link
from marchwarden.evidence.text_leads import MOST_DISCOVERIES, public_address

_ARXIV: Final = re.compile(
    r"(?:arxiv\.org/(?:abs|pdf|html)/|doi\.org/10\.48550/arxiv\.)(\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})"
    r"(?:v\d{1,2})?(?:\.pdf)?$",
    re.IGNORECASE,
)
_DOI: Final = re.compile(
    r"(?:^https?://(?:dx\.|www\.)?doi\.org/|/doi/(?:abs/|full/|pdf/)?)(10\.\d{4,9}/[^\s?#]{2,120})$", re.IGNORECASE
)
_DATA_DOI: Final = re.compile(r"10\.(?:5281/zenodo|5061/dryad|6084/m9\.figshare|7910/dvn|17632|24432)", re.IGNORECASE)
_DATA: Final = re.compile(
    r"^https?://(?:(?:data|datasets|opendata|dataverse|stats|statistics)\.[^/]+/|[^/]*\bdata\.gov/|(?:www\.)?(?:zenodo\.org/record|"
    r"kaggle\.com/datasets|huggingface\.co/datasets|figshare\.com/articles/dataset|datadryad\.org/))"
    r"|\.(?:csv|tsv|xlsx?|ods|parquet|sqlite3?|duckdb|db|jsonl|geojson)$",
    re.IGNORECASE,
)
_SHARED: Final = re.compile(
    r"^(?:[^.]+\.)*(?:facebook|twitter|x|linkedin|reddit|pinterest|whatsapp|instagram|youtube|tiktok|threads|addtoany|t|bsky|"
    r"apple|google|play|amazon|paypal|patreon)\.(?:com|me|co|app|net)$",
    re.IGNORECASE,
)
_FEWEST_LETTERS: Final = 4


def from_links(
    documents: Sequence[Document], known: Iterable[DiscoveryEvent] = (), most: int = MOST_DISCOVERIES
) -> tuple[DiscoveryEvent, ...]:
    """What these documents link to that is not known yet: papers first, then data, then other sites, each once.

    `most` counts what is known already: a result holds a handful of discoveries, wherever they come from.
    """
    earlier = list(known)
    seen = {event.query for event in earlier} | {document.locator for document in documents}
    found: dict[str, DiscoveryEvent] = {}
    for kind in (_papers, _data, _sites):
        for document in documents:
            for event in kind(document):
                if event.query not in seen:
                    found.setdefault(event.query, event)
    return tuple(found.values())[: max(most - len(earlier), 0)]


def _papers(document: Document) -> Iterator[DiscoveryEvent]:
    for link in document.links:
        if arxiv := _ARXIV.search(link.url):
            yield _event(document, link, "arxiv", f"arXiv:{arxiv[1]}", "this paper")
        elif (doi := _doi(link)) and not _DATA_DOI.match(doi):
            yield _event(document, link, "web", f"https://doi.org/{doi}", "this publication")


def _data(document: Document) -> Iterator[DiscoveryEvent]:
    for link in document.links:
        doi = _doi(link)
        if doi and _DATA_DOI.match(doi):
            yield _event(document, link, "database", f"https://doi.org/{doi}", "this data set")
        elif not doi and _is_data(link) and (address := public_address(link.url)):
            yield _event(document, link, "database", address, "this data")


def _sites(document: Document) -> Iterator[DiscoveryEvent]:
    """One page a site, and only where the article's own words are the link: menus and buttons point everywhere."""
    own = {_site(document.locator)}
    for link in document.links:
        site = _site(link.url)
        if site in own or _SHARED.match(site) or _is_other_kind(link) or not _is_in_text(link, document):
            continue
        if address := public_address(link.url):
            own.add(site)
            yield _event(document, link, "web", address, "this page")


def _doi(link: Link) -> str | None:
    match = _DOI.search(unquote(link.url))
    return match[1].rstrip(".,;/") if match else None


def _is_data(link: Link) -> bool:
    return bool(_DATA.search(link.url.partition("?")[0]))


def _is_other_kind(link: Link) -> bool:
    return bool(_ARXIV.search(link.url) or _doi(link) or _is_data(link))


def _is_in_text(link: Link, document: Document) -> bool:
    return len(link.text) >= _FEWEST_LETTERS and link.text in document.text


def _site(address: str) -> str:
    """The last two names of a host: enough to tell one's own site from another."""
    return ".".join((urlsplit(address).hostname or "").split(".")[-2:])


def _event(document: Document, link: Link, researcher: str, query: str, what: str) -> DiscoveryEvent:
    words = f" with the words “{link.text}”" if link.text and link.text != link.url else ""
    return DiscoveryEvent(
        type=DiscoveryType.RELATED_RESEARCH if what in ("this paper", "this publication") else DiscoveryType.NEW_SOURCE,
        suggested_researcher=researcher,
        query=query,
        reason=f"A page read links to {what}{words}.",
        source_locator=document.locator,
    )
