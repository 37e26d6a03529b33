"""Find the publications a paper links to: its journal version, and the DOIs and arXiv ids in its text and links."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from marchwarden.core.notebook import Link
from marchwarden.researchers.arxiv.identifiers import ADDRESS, ArxivId
from marchwarden.researchers.arxiv.models import Paper
from marchwarden.text.identifiers import ARXIV_PAGE, DOI_PREFIX
from marchwarden.text.secrets import has_credentials

MOST_LINKS: Final = 100
# Keeps the case. Trailing punctuation is stripped later: in running text it belongs to the sentence.
_DOI: Final = re.compile(rf"(?:(?<![\w/.])|(?<=doi\.org/)){DOI_PREFIX}[A-Za-z0-9._;()/:<>-]{{2,120}}", re.ASCII)
_ARXIV: Final = re.compile(rf"(?:arxiv\s*:\s*|{ARXIV_PAGE})([\w./-]{{7,40}})", re.IGNORECASE | re.ASCII)
_PAGE: Final = re.compile(r"https?://", re.IGNORECASE)


def find_references(paper: Paper, text: str, links: Iterable[Link] = ()) -> tuple[Link, ...]:
    """Return the links of a paper without duplicates: its journal version, then its own links, then ids in its text."""
    found: dict[str, Link] = {}
    for link in (*_journal_version(paper), *_from_links(links), *_from_text(text)):
        found.setdefault(link.url.casefold(), link)
    own = f"{ADDRESS}/abs/{paper.id.number}".casefold()
    return tuple(link for url, link in found.items() if not url.startswith(own))[:MOST_LINKS]


def _journal_version(paper: Paper) -> Iterator[Link]:
    if paper.published_doi:
        yield Link(f"https://doi.org/{paper.published_doi}", paper.journal)


def _from_links(links: Iterable[Link]) -> Iterator[Link]:
    """Yield the page's links. Links within arXiv count only if they lead to a paper."""
    for link in links:
        if "arxiv.org/" in link.url.casefold():
            yield from (Link(name.latest.locator, link.text) for name in ArxivId.find_all(link.url))
        elif _PAGE.match(link.url) and not has_credentials(link.url):
            yield link


def _from_text(text: str) -> Iterator[Link]:
    for match in _ARXIV.finditer(text):
        for name in ArxivId.find_all(match[1].rstrip(".")):
            yield Link(name.latest.locator, match[0])
    for match in _DOI.finditer(text):
        yield Link(f"https://doi.org/{_strip_punctuation(match[0])}", match[0])


def _strip_punctuation(doi: str) -> str:
    doi = doi.rstrip(".,;:<>")
    while doi.endswith(")") and doi.count("(") < doi.count(")"):
        doi = doi[:-1].rstrip(".,;:<>")
    return doi
