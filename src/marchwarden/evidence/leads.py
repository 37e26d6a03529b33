"""Discover papers, data and pages that documents cite or link to, for other researchers to follow. Fetches nothing."""

import re
from collections.abc import Iterable, Iterator, Sequence
from ipaddress import ip_address
from typing import Final
from urllib.parse import unquote, urlsplit

from marchwarden.contract import DiscoveryEvent, DiscoveryType
from marchwarden.core.notebook import Document, Link, Notebook
from marchwarden.core.passages import Passage
from marchwarden.text.secrets import has_secret_parameter

MOST_DISCOVERIES: Final = 5
LONGEST_ADDRESS: Final = 300
_ARXIV: Final = re.compile(
    r"(?:arxiv\s*:\s*|arxiv\.org/(?:abs|pdf|html)/|10\.48550/arxiv\.)"
    r"(\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})(?:v\d{1,2})?(?![\w])",
    re.IGNORECASE,
)
_DOI: Final = re.compile(
    r"(?<![\w/.])(?:doi\s*:\s*|https?://(?:dx\.)?doi\.org/)?(10\.\d{4,9}/[A-Za-z0-9._;()/:-]{2,120})", re.IGNORECASE
)
_URL: Final = re.compile(r"https?://[\w.~:/?#\[\]@!$&()*+,;=%-]{4,400}", re.IGNORECASE | re.ASCII)
_NOT_A_PAGE: Final = re.compile(r"\.(?:png|jpe?g|gif|svg|ico|css|js|woff2?|mp[34]|zip|gz|exe)$", re.IGNORECASE)
_NOT_PUBLIC: Final = (".local", ".localhost", ".internal", ".test", ".invalid", ".example", ".onion")
_EXAMPLE_HOSTS: Final = frozenset({"example.com", "example.org", "example.net"})

_ARXIV_LINK: Final = re.compile(
    r"(?:arxiv\.org/(?:abs|pdf|html)/|doi\.org/10\.48550/arxiv\.)(\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})"
    r"(?:v\d{1,2})?(?:\.pdf)?$",
    re.IGNORECASE,
)
_DOI_LINK: Final = re.compile(
    r"(?:^https?://(?:dx\.|www\.)?doi\.org/|/doi/(?:abs/|full/|pdf/)?)(10\.\d{4,9}/[^\s?#]{2,120})$", re.IGNORECASE
)
_DATA_DOI: Final = re.compile(r"10\.(?:5281/zenodo|5061/dryad|6084/m9\.figshare|7910/dvn|17632|24432)", re.IGNORECASE)
_DATA: Final = re.compile(
    r"^https?://(?:(?:data|datasets|opendata|dataverse|stats|statistics)\.[^/]+/|[^/]*\bdata\.gov/|(?:www\.)?(?:zenodo\.org/record|"
    r"kaggle\.com/datasets|huggingface\.co/datasets|figshare\.com/articles/dataset|datadryad\.org/))"
    r"|\.(?:csv|tsv|xlsx?|ods|parquet|sqlite3?|duckdb|db|jsonl|geojson)$",
    re.IGNORECASE,
)
_SOCIAL: Final = re.compile(
    r"^(?:[^.]+\.)*(?:facebook|twitter|x|linkedin|reddit|pinterest|whatsapp|instagram|youtube|tiktok|threads|addtoany|t|bsky|"
    r"apple|google|play|amazon|paypal|patreon)\.(?:com|me|co|app|net)$",
    re.IGNORECASE,
)
_FEWEST_LETTERS: Final = 4


def discover_in_text(notebook: Notebook, passages: Iterable[Passage]) -> tuple[DiscoveryEvent, ...]:
    """Return new papers and pages that these passages mention, in reading order, up to the limit of a run."""
    known = {event.query for event in notebook.discoveries}
    found: dict[str, DiscoveryEvent] = {}
    for passage in passages:
        document = notebook.documents[passage.document]
        where = document.locate(passage.start, passage.end)
        for event in _cited_in(notebook.text_of(passage), document, where):
            if event.query not in known:
                found.setdefault(event.query, event)
    return tuple(found.values())[: max(MOST_DISCOVERIES - len(known), 0)]


def _cited_in(text: str, document: Document, where: str) -> Iterator[DiscoveryEvent]:
    for match in _ARXIV.finditer(text):
        yield _text_event(
            DiscoveryType.RELATED_RESEARCH, "arxiv", f"arXiv:{match[1]}", "A passage cites this paper.", where
        )
    for match in _DOI.finditer(text):
        name = _without_trailing_punctuation(match[1])
        if not name.casefold().startswith("10.48550/arxiv"):
            address = f"https://doi.org/{name}"
            yield _text_event(
                DiscoveryType.RELATED_RESEARCH, "web", address, "A passage cites this publication.", where
            )
    for match in _URL.finditer(text):
        page = public_address(match[0])
        if page and page != document.locator and not _is_paper(page):
            yield _text_event(DiscoveryType.NEW_SOURCE, "web", page, "A passage links to this page.", where)


def public_address(address: str) -> str | None:
    """Return the address without user name, fragment and trailing punctuation, or None if it is not public.

    An address with a key, token or signature is not public either.
    """
    try:
        parts = urlsplit(_without_trailing_punctuation(address))
        host, port = (parts.hostname or "").casefold().rstrip("."), parts.port
    except ValueError:
        return None
    if not _is_public(host) or _NOT_A_PAGE.search(parts.path) or has_secret_parameter(parts.query):
        return None
    query = f"?{parts.query}" if parts.query else ""
    cleaned = f"{parts.scheme.casefold()}://{host}{f':{port}' if port else ''}{parts.path}{query}"
    return cleaned if len(cleaned) <= LONGEST_ADDRESS else None


def _is_public(host: str) -> bool:
    if (
        "." not in host
        or host.endswith(_NOT_PUBLIC)
        or host in _EXAMPLE_HOSTS
        or not re.fullmatch(r"[a-z0-9.-]+", host)
    ):
        return False
    try:
        ip_address(host)
    except ValueError:
        return not host.rsplit(".", 1)[1].isdigit()
    return False


def _is_paper(address: str) -> bool:
    return bool(_ARXIV.search(address) or _DOI.search(address))


def _without_trailing_punctuation(text: str) -> str:
    """Remove punctuation that belongs to the sentence around an address."""
    text = text.rstrip(".,;:!?'\"*_")
    while text.endswith((")", "]")) and text.count("(") + text.count("[") < text.count(")") + text.count("]"):
        text = text[:-1].rstrip(".,;:!?'\"*_")
    return text


def _text_event(kind: DiscoveryType, researcher: str, query: str, reason: str, where: str) -> DiscoveryEvent:
    return DiscoveryEvent(type=kind, suggested_researcher=researcher, query=query, reason=reason, source_locator=where)


def discover_in_links(
    documents: Sequence[Document], known: Iterable[DiscoveryEvent] = (), most: int = MOST_DISCOVERIES
) -> tuple[DiscoveryEvent, ...]:
    """Return new link targets of these documents: papers first, then data, then other sites.

    `most` includes the events in `known`, because the limit applies to the whole result.
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
        if arxiv := _ARXIV_LINK.search(link.url):
            yield _link_event(document, link, "arxiv", f"arXiv:{arxiv[1]}", "this paper")
        elif (doi := _doi(link)) and not _DATA_DOI.match(doi):
            yield _link_event(document, link, "web", f"https://doi.org/{doi}", "this publication")


def _data(document: Document) -> Iterator[DiscoveryEvent]:
    for link in document.links:
        doi = _doi(link)
        if doi and _DATA_DOI.match(doi):
            yield _link_event(document, link, "database", f"https://doi.org/{doi}", "this data set")
        elif not doi and _is_data(link) and (address := public_address(link.url)):
            yield _link_event(document, link, "database", address, "this data")


def _sites(document: Document) -> Iterator[DiscoveryEvent]:
    """Yield one page per site, only for links in the article text. Menus and buttons are ignored."""
    own = {_site(document.locator)}
    for link in document.links:
        site = _site(link.url)
        if site in own or _SOCIAL.match(site) or _is_other_kind(link) or not _is_in_text(link, document):
            continue
        if address := public_address(link.url):
            own.add(site)
            yield _link_event(document, link, "web", address, "this page")


def _doi(link: Link) -> str | None:
    match = _DOI_LINK.search(unquote(link.url))
    return match[1].rstrip(".,;/") if match else None


def _is_data(link: Link) -> bool:
    return bool(_DATA.search(link.url.partition("?")[0]))


def _is_other_kind(link: Link) -> bool:
    return bool(_ARXIV_LINK.search(link.url) or _doi(link) or _is_data(link))


def _is_in_text(link: Link, document: Document) -> bool:
    return len(link.text) >= _FEWEST_LETTERS and link.text in document.text


def _site(address: str) -> str:
    """Return the last two labels of the host, enough to recognise links within a site."""
    return ".".join((urlsplit(address).hostname or "").split(".")[-2:])


def _link_event(document: Document, link: Link, researcher: str, query: str, what: str) -> DiscoveryEvent:
    words = f" (link text: “{link.text}”)" if link.text and link.text != link.url else ""
    return DiscoveryEvent(
        type=DiscoveryType.RELATED_RESEARCH if what in ("this paper", "this publication") else DiscoveryType.NEW_SOURCE,
        suggested_researcher=researcher,
        query=query,
        reason=f"A page links to {what}{words}.",
        source_locator=document.locator,
    )
