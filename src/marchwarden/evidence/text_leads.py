"""Papers and pages that passages point at, for other researchers to follow. Only reports; nothing is fetched here."""

import re
from collections.abc import Iterable, Iterator
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from marchwarden.contract import DiscoveryEvent, DiscoveryType
from marchwarden.core.notebook import Document, Notebook
from marchwarden.core.passages import Passage

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
_NO_PAGE: Final = re.compile(r"\.(?:png|jpe?g|gif|svg|ico|css|js|woff2?|mp[34]|zip|gz|exe)$", re.IGNORECASE)
_NOT_PUBLIC: Final = (".local", ".localhost", ".internal", ".test", ".invalid", ".example", ".onion")
_EXAMPLES: Final = frozenset({"example.com", "example.org", "example.net"})


def discoveries(notebook: Notebook, passages: Iterable[Passage]) -> tuple[DiscoveryEvent, ...]:
    """What these passages point at and nothing earlier did, in reading order, at most a handful in a run."""
    known = {event.query for event in notebook.discoveries}
    found: dict[str, DiscoveryEvent] = {}
    for passage in passages:
        document = notebook.documents[passage.document]
        where = document.locate(passage.start, passage.end)
        for event in _pointed_at(notebook.text_of(passage), document, where):
            if event.query not in known:
                found.setdefault(event.query, event)
    return tuple(found.values())[: max(MOST_DISCOVERIES - len(known), 0)]


def _pointed_at(text: str, document: Document, where: str) -> Iterator[DiscoveryEvent]:
    for match in _ARXIV.finditer(text):
        yield _event(
            DiscoveryType.RELATED_RESEARCH, "arxiv", f"arXiv:{match[1]}", "A passage read cites this paper.", where
        )
    for match in _DOI.finditer(text):
        name = _without_tail(match[1])
        if not name.casefold().startswith("10.48550/arxiv"):
            address = f"https://doi.org/{name}"
            yield _event(
                DiscoveryType.RELATED_RESEARCH, "web", address, "A passage read cites this publication.", where
            )
    for match in _URL.finditer(text):
        page = public_address(match[0])
        if page and page != document.locator and not _is_paper(page):
            yield _event(DiscoveryType.NEW_SOURCE, "web", page, "A passage read points at this page.", where)


def public_address(address: str) -> str | None:
    """The address of a page on the public web, cleaned of user names, fragments and trailing marks; else None."""
    try:
        parts = urlsplit(_without_tail(address))
        host, port = (parts.hostname or "").casefold().rstrip("."), parts.port
    except ValueError:
        return None
    if not _is_public(host) or _NO_PAGE.search(parts.path):
        return None
    query = f"?{parts.query}" if parts.query else ""
    cleaned = f"{parts.scheme.casefold()}://{host}{f':{port}' if port else ''}{parts.path}{query}"
    return cleaned if len(cleaned) <= LONGEST_ADDRESS else None


def _is_public(host: str) -> bool:
    if "." not in host or host.endswith(_NOT_PUBLIC) or host in _EXAMPLES or not re.fullmatch(r"[a-z0-9.-]+", host):
        return False
    try:
        ip_address(host)
    except ValueError:
        return not host.rsplit(".", 1)[1].isdigit()
    return False


def _is_paper(address: str) -> bool:
    return bool(_ARXIV.search(address) or _DOI.search(address))


def _without_tail(text: str) -> str:
    """Without the punctuation that belongs to the sentence and not to the address."""
    text = text.rstrip(".,;:!?'\"*_")
    while text.endswith((")", "]")) and text.count("(") + text.count("[") < text.count(")") + text.count("]"):
        text = text[:-1].rstrip(".,;:!?'\"*_")
    return text


def _event(kind: DiscoveryType, researcher: str, query: str, reason: str, where: str) -> DiscoveryEvent:
    return DiscoveryEvent(type=kind, suggested_researcher=researcher, query=query, reason=reason, source_locator=where)
