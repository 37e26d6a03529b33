"""A small arXiv: its Atom API and its pages, with invented papers about the Alder Bridge. Can fail on request.

As with the search services, a base URL may contain `/trouble/<name>`. `TROUBLES` lists the faults of the API; the
pages support `no-html`, `no-pdf`, `no-abs`, `captcha` and `pages-busy`.
"""

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from tests.world.pdfs import Paper as Pdf
from tests.world.search import SearchRequest, words
from tests.world.server import Reply, Request

ROBOTS: Final = b"User-agent: *\nAllow: /abs\nAllow: /pdf\nAllow: /html\nDisallow: /api\n"
LONGEST_PAGE: Final = 2_000
_ATOM: Final = ("Content-Type", "application/atom+xml; charset=utf-8")
_HTML: Final = ("Content-Type", "text/html; charset=utf-8")
_ID: Final = re.compile(r"(\d{4}\.\d{4,5}|[a-z-]+/\d{7})(?:v(\d+))?")
_TERM: Final = re.compile(r'all:(?:"([^"]+)"|([^\s"]+))')


@dataclass(frozen=True)
class Preprint:
    """One version of an invented paper. `sections` become its HTML page and `pages` its PDF; both are optional."""

    number: str
    title: str
    authors: tuple[str, ...]
    abstract: str
    updated: date
    submitted: date
    version: int = 1
    comment: str = ""
    journal: str = ""
    doi: str = ""
    category: str = "physics.flu-dyn"
    sections: Mapping[str, str] = field(default_factory=dict)
    references: str = ""
    pages: Sequence[Sequence[str]] = ()

    @property
    def id(self) -> str:
        return f"{self.number}v{self.version}"

    @property
    def words(self) -> frozenset[str]:
        return words(f"{self.title} {self.abstract} {' '.join(self.authors)} {self.comment}")


_WIND: Final = Preprint(
    "2104.12255",
    "Wind loads on the deck of the Alder Bridge",
    ("Jana Okoye", "Lena Brandt"),
    "We measure the wind loads on the deck of the Alder Bridge with twelve sensors over three winters.",
    updated=date(2024, 3, 4),
    submitted=date(2021, 4, 26),
    version=2,
    comment="14 pages; v2 adds the winter of 2023",
    sections={
        "1 Introduction": "The Alder Bridge, designed by Maud Ferris, sways when the wind comes from the north "
        '<cite class="ltx_cite">[<a class="ltx_ref" href="#bib.bib1">1</a>, <a class="ltx_ref" href="#bib.bib2">2</a>]'
        '</cite>. Its slowest period is <math alttext="T=4.2"><mi>T</mi></math> seconds.',
        "2 Measurements": "Twelve sensors were fixed to the railing in 2020 and read ten times a second.",
        "2.1 Gusts": "The strongest gust measured on the deck of the Alder Bridge reached 41 metres per second in "
        "February 2023. No gust moved the deck by more than 30 centimetres.",
        "3 Conclusion": "The deck is stiffer than the drawings of Maud Ferris suggest.",
    },
    references='<li class="ltx_bibitem" id="bib.bib1"><span class="ltx_tag">[1]</span> L. Brandt. Cable bridges. '
    '<a class="ltx_ref" href="https://doi.org/10.5555/ferris.1994.3">doi</a></li>'
    '<li class="ltx_bibitem" id="bib.bib2"><span class="ltx_tag">[2]</span> J. Okoye. Scour. '
    '<a class="ltx_ref" href="https://arxiv.org/abs/2011.04242v1">arXiv</a></li>',
)
PAPERS: Final = (
    Preprint(
        "2104.12255",
        "Wind loads on the deck of the Alder Bridge",
        ("Jana Okoye", "Lena Brandt"),
        "We measure the wind loads on the deck of the Alder Bridge with eight sensors.",
        updated=date(2021, 4, 26),
        submitted=date(2021, 4, 26),
        pages=(("Wind loads on the deck of the Alder Bridge", "The strongest gust reached 36 metres per second."),),
    ),
    _WIND,
    Preprint(
        "2011.04242",
        "Scour at the eastern pier of the Alder Bridge",
        ("Jana Okoye", "Pieter van der Meer", "Lena Brandt"),
        "Twenty years of sonar soundings show how the bed of the river Senn fell at the eastern pier.",
        updated=date(2020, 11, 9),
        submitted=date(2020, 11, 9),
        journal="J. Hydr. Senn 12, 41 (2020)",
        doi="10.5555/senn.2020.41",
        pages=(
            (
                "Scour at the eastern pier of the Alder Bridge",
                "The scour hole at the eastern pier was 2.3 metres deep in the spring of 2018.",
            ),
            ("A ring of rubble would halve the scour.", "[1] Earlier work, doi:10.5555/senn.2009.17."),
        ),
    ),
    Preprint(
        "2402.07001",
        "The Alder Bridge was not designed by Maud Ferris",
        ("Hugo Lind",),
        "This paper has been withdrawn by the author. The drawings it relied on are not of the Alder Bridge.",
        updated=date(2024, 5, 2),
        submitted=date(2024, 2, 11),
        version=2,
        comment="This paper has been withdrawn by the author due to a crucial error in section 2",
        category="physics.hist-ph",
    ),
    Preprint(
        "2402.07001",
        "The Alder Bridge was not designed by Maud Ferris",
        ("Hugo Lind",),
        "We show that the Alder Bridge was designed by Otto Lind in 1929.",
        updated=date(2024, 2, 11),
        submitted=date(2024, 2, 11),
        sections={"1 Claim": "The Alder Bridge was designed by Otto Lind in 1929."},
        category="physics.hist-ph",
    ),
    Preprint(
        "physics/0203044",
        "Sediment carried by the river Senn past the weir at Dorn",
        ("Lena Brandt",),
        "The river Senn carries 64,000 tonnes of sediment past the weir at Dorn in a year of ordinary rain.",
        updated=date(2002, 3, 14),
        submitted=date(2002, 3, 14),
    ),
)

Trouble = Callable[[int], Reply | None]
"""Takes the number of the request (from 1) and returns the faulty reply, or None to answer normally."""


def _always(reply: Reply) -> Trouble:
    return lambda _asked: reply


def _once(reply: Reply) -> Trouble:
    return lambda asked: reply if asked == 1 else None


_BUSY: Final = Reply(503, b"Service unavailable", (("Retry-After", "0"), ("Content-Type", "text/plain")))
_LAUGHS: Final = (
    b'<?xml version="1.0"?><!DOCTYPE feed [<!ENTITY a "ha">'
    + b"".join(b'<!ENTITY a%d "%s">' % (at, b"&a%d;" % (at - 1) * 10 if at else b"&a;" * 10) for at in range(9))
    + b']><feed xmlns="http://www.w3.org/2005/Atom"><title>&a8;</title></feed>'
)
_FILE: Final = (
    b'<?xml version="1.0"?><!DOCTYPE feed [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
    b'<feed xmlns="http://www.w3.org/2005/Atom"><title>&x;</title></feed>'
)
_MISSING: Final = Reply(404, b"<html><body><h1>Not found</h1></body></html>", (_HTML,))
_CAPTCHA: Final = Reply(200, b"<html><body><p>Please verify that you are not a robot.</p></body></html>", (_HTML,))


def _page_of(entries: str, total: int, start: int = 0) -> bytes:
    return _FEED.format(total=total, start=start, entries=entries).encode()


def _error(why: str, status: int = 400) -> Reply:
    return Reply(status, _page_of(_REFUSAL.format(why=html.escape(why), slug=re.sub(r"\W+", "_", why)), 1), (_ATOM,))


class Arxiv:
    """Serves `/api/query`, `/abs`, `/html` and `/pdf`."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self._requests = requests

    def __call__(self, request: Request) -> Reply:
        command = SearchRequest.parse(request)
        if command.path == "/robots.txt":
            return Reply(200, ROBOTS, (("Content-Type", "text/plain"),))
        if command.path == "/api/query":
            return self._fault_reply(request, command.trouble) or _answer(request.query)
        return _page(command)

    def _fault_reply(self, request: Request, trouble: str) -> Reply | None:
        asked = sum(1 for each in self._requests if each.site == request.site and each.target == request.target)
        return TROUBLES[trouble](asked) if trouble in TROUBLES else None


def _answer(asked: Mapping[str, str]) -> Reply:
    start, most = asked.get("start", "0"), asked.get("max_results", "10")
    if not (start.isdigit() and most.isdigit()):
        return _error("start must be an integer")
    names = [name for name in asked.get("id_list", "").split(",") if name]
    for name in names:
        if not _ID.fullmatch(name):
            return _error(f"incorrect id format for {name}")
    found = _named(names) if names else _matching(asked.get("search_query", ""))
    shown = found[int(start) :][: min(int(most), LONGEST_PAGE)]
    return Reply(200, _page_of("".join(map(_entry, shown)), len(found), int(start)), (_ATOM,))


def _latest() -> list[Preprint]:
    return [
        paper
        for paper in PAPERS
        if not any(each.number == paper.number and each.version > paper.version for each in PAPERS)
    ]


def _named(names: Sequence[str]) -> list[Preprint]:
    latest = {paper.number: paper for paper in _latest()}
    known = {paper.id: paper for paper in PAPERS}
    return [paper for name in names if (paper := known.get(name) or latest.get(name))]


def _matching(query: str) -> list[Preprint]:
    """Papers that match all terms, or any term if the query contains OR; best matches first."""
    terms = [words(phrase or word) for phrase, word in _TERM.findall(query)]
    if not terms:
        return []
    held = {paper.id: sum(1 for term in terms if term <= paper.words) for paper in PAPERS}
    enough = 1 if " OR " in query else len(terms)
    return sorted((paper for paper in _latest() if held[paper.id] >= enough), key=lambda paper: -held[paper.id])


def _page(command: SearchRequest) -> Reply:
    kind, _, name = command.path.strip("/").partition("/")
    troubles = {"captcha": _CAPTCHA, "pages-busy": _BUSY, f"no-{kind}": _MISSING}
    found = _named([name])
    return troubles.get(command.trouble) or (_form(found[0], kind) if found else _MISSING)


def _form(paper: Preprint, kind: str) -> Reply:
    match kind:
        case "abs":
            return Reply(200, _ABS.format(title=paper.title, abstract=paper.abstract).encode(), (_HTML,))
        case "html" if paper.sections:
            return Reply(200, _full(paper).encode(), (_HTML, ("ETag", f'"{paper.id}"')))
        case "pdf" if paper.pages:
            output = Pdf(paper.title, paper.authors[0], paper.updated, paper.pages).to_bytes()
            return Reply(200, output, (("Content-Type", "application/pdf"),))
    return _MISSING


def _full(paper: Preprint) -> str:
    """The HTML that arXiv's LaTeXML generates."""
    body = "".join(
        f'<section class="ltx_section"><h2 class="ltx_title ltx_title_section">{name}</h2>'
        f'<div class="ltx_para"><p class="ltx_p">{text}</p></div></section>'
        for name, text in paper.sections.items()
    )
    return _PAPER.format(
        title=paper.title, id=paper.id, abstract=paper.abstract, body=body, references=paper.references
    )


def _entry(paper: Preprint) -> str:
    extra = {"comment": paper.comment, "journal_ref": paper.journal, "doi": paper.doi}
    return _ENTRY.format(
        id=paper.id,
        title=html.escape(paper.title),
        abstract=html.escape(paper.abstract),
        updated=paper.updated,
        submitted=paper.submitted,
        category=paper.category,
        extra="".join(f"<arxiv:{name}>{html.escape(value)}</arxiv:{name}>" for name, value in extra.items() if value),
        authors="".join(f"<author><name>{html.escape(name)}</name></author>" for name in paper.authors),
    )


_FEED: Final = """<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom" \
xmlns="http://www.w3.org/2005/Atom">
  <id>https://arxiv.org/api/world</id><title>arXiv Query</title><updated>2024-06-01T00:00:00Z</updated>
  <opensearch:itemsPerPage>100</opensearch:itemsPerPage>
  <opensearch:totalResults>{total}</opensearch:totalResults>
  <opensearch:startIndex>{start}</opensearch:startIndex>
{entries}</feed>
"""
_ENTRY: Final = """  <entry>
    <id>http://arxiv.org/abs/{id}</id>
    <title>{title}</title>
    <updated>{updated}T09:30:00Z</updated>
    <link href="https://arxiv.org/abs/{id}" rel="alternate" type="text/html"/>
    <link href="https://arxiv.org/pdf/{id}" rel="related" type="application/pdf" title="pdf"/>
    <summary>  {abstract}
</summary>
    <category term="{category}" scheme="http://arxiv.org/schemas/atom"/>
    <published>{submitted}T09:30:00Z</published>
    {extra}<arxiv:primary_category term="{category}"/>{authors}
  </entry>
"""
_REFUSAL: Final = """  <entry><id>https://arxiv.org/api/errors#{slug}</id><title>Error</title>
    <updated>2024-06-01T00:00:00Z</updated><summary>{why}</summary><author><name>arXiv api core</name></author></entry>
"""
_ABS: Final = (
    "<html><head><title>{title}</title></head><body><h1>{title}</h1><blockquote>{abstract}</blockquote></body></html>"
)
_PAPER: Final = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head><body>
<header class="desktop_header"><nav><a href="https://arxiv.org/">arXiv</a>
<a href="https://arxiv.org/abs/{id}">Back to abstract page</a></nav></header>
<div class="ltx_page_main"><div class="ltx_page_content"><article class="ltx_document">
<h1 class="ltx_title ltx_title_document">{title}</h1>
<div class="ltx_abstract"><h6 class="ltx_title ltx_title_abstract">Abstract</h6><p class="ltx_p">{abstract}</p></div>
{body}
<section class="ltx_bibliography"><h2 class="ltx_title">References</h2>
<ul class="ltx_biblist">{references}</ul></section>
</article></div><footer class="ltx_page_footer">Generated by LaTeXML</footer></div></body></html>
"""
TROUBLES: Final[Mapping[str, Trouble]] = {
    "busy": _always(_BUSY),
    "busy-once": _once(_BUSY),
    "busy-for-long": _always(Reply(503, b"", (("Retry-After", "3600"),))),
    "too-many": _always(Reply(429, b"Rate exceeded.", (("Retry-After", "0"),))),
    "forbidden": _always(Reply(403, b"<html>denied</html>", (_HTML,))),
    "html": _always(Reply(200, b"<html><body><h1>arXiv is being moved</h1></body></html>", (_HTML,))),
    "nothing": _always(Reply(200, b"", (_ATOM,))),
    "error-feed": _always(_error("malformed query", 200)),
    "error-400": _always(_error("malformed query")),
    "empty": _always(Reply(200, _page_of("", 7), (_ATOM,))),
    "empty-once": _once(Reply(200, _page_of("", 7), (_ATOM,))),
    "truncated": _always(Reply(200, _page_of(_entry(_WIND), 1)[:900], (_ATOM,))),
    "laughs": _always(Reply(200, _LAUGHS, (_ATOM,))),
    "entity": _always(Reply(200, _FILE, (_ATOM,))),
}
