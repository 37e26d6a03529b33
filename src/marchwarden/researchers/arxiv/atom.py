"""Parse arXiv's Atom feeds into papers. The input is untrusted; a feed that reports an error raises `SourceError`."""

import re
from dataclasses import dataclass
from datetime import date
from typing import Final

from lxml import etree

from marchwarden.contract import GapCategory
from marchwarden.errors import InvalidInput, SourceError
from marchwarden.researchers.arxiv.identifiers import ArxivId
from marchwarden.researchers.arxiv.models import Paper
from marchwarden.text.sanitize import one_line, quotable_line

MOST_AUTHORS: Final = 500
LONGEST_TITLE: Final = 500
LONGEST_ABSTRACT: Final = 20_000

_ATOM: Final = "{http://www.w3.org/2005/Atom}"
_ARXIV: Final = "{http://arxiv.org/schemas/atom}"
_SEARCH: Final = "{http://a9.com/-/spec/opensearch/1.1/}"
_ERRORS: Final = "/api/errors"
# Removed before parsing: a control character in one abstract would make the whole page unreadable.
_FORBIDDEN: Final = bytes(set(range(32)) - set(b"\t\n\r"))
_PUBLICATION: Final = r"(?:paper|article|manuscript|submission|preprint|work|note|version|document|letter|report)"
_WITHDRAWN: Final = r"(?:withdrawn|retracted)"
_STATEMENT: Final = re.compile(
    rf"\b(?:this|the|our|present)\s+(?:\w+\s+)?{_PUBLICATION}\s+(?:has\s+been|have\s+been|is|was)\s+(?:being\s+|now\s+)?{_WITHDRAWN}\b"
    rf"|\b(?:has|have)\s+been\s+{_WITHDRAWN}\s+(?:by|from\s+arxiv|due|because|for|until|pending)\b"
    rf"|\b{_WITHDRAWN}\s+by\s+(?:the\s+|its\s+)?(?:\w+\s+)?(?:authors?|submitters?|arxiv|admin\w*)\b"
    r"|\b(?:i|we|the\s+authors?)\s+(?:have\s+|has\s+)?(?:withdrawn?|withdrew|retract(?:ed)?)\s+(?:this|the|our)\s+"
    rf"(?:\w+\s+)?{_PUBLICATION}\b",
    re.IGNORECASE,
)
_STARTS_WITH: Final = re.compile(
    rf"\W*(?:this\s+)?(?:{_PUBLICATION}\s+)?(?:temporarily\s+)?{_WITHDRAWN}\b", re.IGNORECASE
)
_NEGATED: Final = re.compile(r"\b(?:not|never)\s+(?:been\s+|be\s+)?(?:withdrawn|retracted)\b", re.IGNORECASE)
LONGEST_NOTICE: Final = 400
"""Characters. The abstract of a withdrawn paper says little else; a longer one may be about other papers."""


@dataclass(frozen=True)
class Feed:
    """One result page: its papers, its number of entries, its start index and the total number of results."""

    papers: tuple[Paper, ...]
    entries: int
    start: int
    total: int


def parse_feed(content: bytes) -> Feed:
    """Parse a feed. Raise `SourceError` for anything that is not a feed, and for a feed that reports an error."""
    feed = _parse_root(content)
    entries = feed.findall(f"{_ATOM}entry")
    for entry in entries:
        if _ERRORS in _text(entry, f"{_ATOM}id"):
            reason = one_line(_text(entry, f"{_ATOM}summary"), 200) or "no reason given"
            raise SourceError(f"arXiv refused the request: {reason}", GapCategory.SOURCE_NOT_FOUND)
    found = [paper for entry in entries if (paper := _parse_paper(entry)) is not None]
    return Feed(tuple(found), len(entries), _count(feed, "startIndex"), _count(feed, "totalResults"))


def _parse_root(content: bytes) -> etree._Element:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(content.translate(None, _FORBIDDEN), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise SourceError("arXiv's response is not a feed") from error
    if root.tag != f"{_ATOM}feed" or root.getroottree().docinfo.internalDTD is not None:
        raise SourceError("arXiv's response is not a feed")
    return root


def _parse_paper(entry: etree._Element) -> Paper | None:
    """Parse one entry, or return None if its id or dates are invalid. The other entries stay usable."""
    try:
        name = ArxivId.parse(_text(entry, f"{_ATOM}id"))
        submitted = date.fromisoformat(_text(entry, f"{_ATOM}published")[:10])
        updated = date.fromisoformat(_text(entry, f"{_ATOM}updated")[:10])
    except (InvalidInput, ValueError):
        return None
    comment = quotable_line(_text(entry, f"{_ARXIV}comment"), 1_000)
    abstract = quotable_line(_text(entry, f"{_ATOM}summary"), LONGEST_ABSTRACT)
    return Paper(
        id=name if name.version else ArxivId(name.number, 1),
        title=quotable_line(_text(entry, f"{_ATOM}title"), LONGEST_TITLE) or str(name),
        authors=_authors(entry),
        abstract=abstract,
        submitted=submitted,
        updated=updated,
        categories=tuple(one_line(str(each.get("term", "")), 50) for each in entry.findall(f"{_ATOM}category")),
        comment=comment,
        journal=quotable_line(_text(entry, f"{_ARXIV}journal_ref")),
        doi=_parse_doi(entry),
        withdrawn=is_withdrawn(comment, abstract),
        entry=etree.tostring(entry, encoding="utf-8", with_tail=False),
    )


def _authors(entry: etree._Element) -> tuple[str, ...]:
    names = (quotable_line(_text(each, f"{_ATOM}name"), 200) for each in entry.findall(f"{_ATOM}author")[:MOST_AUTHORS])
    return tuple(name for name in names if name)


def _parse_doi(entry: etree._Element) -> str:
    """Return the first DOI: authors sometimes put two into the field."""
    value = one_line(_text(entry, f"{_ARXIV}doi")).split()
    return value[0].strip(",;") if value else ""


def _text(element: etree._Element, name: str) -> str:
    found = element.find(name)
    return "" if found is None else "".join(found.itertext()).strip()


def _count(feed: etree._Element, name: str) -> int:
    value = _text(feed, f"{_SEARCH}{name}")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else 0  # noqa: PLR2004


def is_withdrawn(comment: str, abstract: str) -> bool:
    """Tell whether a paper is withdrawn, as opposed to being about withdrawn papers.

    arXiv has no field for it: the authors say so in the comment or the abstract, in their own words.
    """
    if _NEGATED.search(comment):
        return False
    if _STARTS_WITH.match(comment) or _STATEMENT.search(comment):
        return True
    opening = abstract[:LONGEST_NOTICE]
    return bool(_STATEMENT.match(opening.lstrip()) or (len(abstract) <= LONGEST_NOTICE and _STATEMENT.search(abstract)))
