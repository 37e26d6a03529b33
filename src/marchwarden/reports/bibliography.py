"""Export the cited documents as BibTeX and CSL-JSON, one entry per document."""

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Final

from marchwarden.reports.bundle import Bundle, SourceText
from marchwarden.reports.html import http_address
from marchwarden.text.identifiers import ARXIV_ID, ARXIV_PAGE
from marchwarden.text.sanitize import json_text, one_line

_TEX: Final[Mapping[str, str]] = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
_ARXIV_URL: Final = re.compile(rf"{ARXIV_PAGE}(?P<id>{ARXIV_ID})(?:v\d+)?", re.IGNORECASE)
_AUTHORS: Final = re.compile(r"\s*(?:;|\band\b|,(?=\s*\S+\s+\S))\s*")
_MIN_KEY_WORD: Final = 4
_NOT_IN_A_KEY: Final = re.compile(r"[^a-z0-9]+")


def bibtex(bundle: Bundle) -> str:
    return "\n".join(_entry(source) for source in bundle.sources)


def csl_json(bundle: Bundle) -> str:
    return json_text([_item(source) for source in bundle.sources], indent=2) + "\n"


def escape_tex(text: str) -> str:
    """Escape text so that TeX prints it unchanged."""
    return "".join(_TEX.get(character, character) for character in one_line(text, 2000))


def key(source: SourceText) -> str:
    """Return a citation key. The hash makes it unique per document, the number unique per entry."""
    words = [word for word in _NOT_IN_A_KEY.split(source.title.casefold()) if len(word) >= _MIN_KEY_WORD]
    digest = (source.text_hash or source.content_hash).removeprefix("sha256:")[:8]
    return "-".join(part for part in ("".join(words[:2])[:24], digest, str(source.number)) if part)


def _entry(source: SourceText) -> str:
    fields = "".join(f"  {name} = {{{value}}},\n" for name, value in _fields(source))
    # Every BibTeX style supports @misc; only BibLaTeX supports @online.
    return f"@misc{{{key(source)},\n{fields}}}\n"


def _fields(source: SourceText) -> Iterator[tuple[str, str]]:
    # The inner braces preserve the capitalization of the title.
    yield "title", f"{{{escape_tex(source.title or source.locator)}}}"
    if authors := _authors(source):
        yield "author", " and ".join(f"{{{escape_tex(author)}}}" for author in authors)
    if source.published:
        yield "date", source.published.isoformat()
        yield "year", str(source.published.year)
    if http_address(source.locator):
        # Not escaped: TeX reads URLs verbatim, and `http_address` excludes braces.
        yield "url", source.locator
    else:
        yield "howpublished", escape_tex(source.locator)
    if arxiv := _ARXIV_URL.search(source.locator):
        yield "eprint", arxiv["id"]
        yield "eprinttype", "arxiv"
    if accessed := _accessed(source):
        yield "urldate", accessed.isoformat()
    if source.content_hash:
        yield "note", escape_tex(source.content_hash)


def _item(source: SourceText) -> dict[str, object]:
    address, accessed = http_address(source.locator), _accessed(source)
    item: dict[str, object] = {
        "id": key(source),
        "type": _csl_type(source),
        "title": one_line(source.title or source.locator, 2000),
        "author": [{"literal": author} for author in _authors(source)],
        "issued": _date_parts(source.published),
        "accessed": _date_parts(accessed),
        "URL": address,
        "archive_location": None if address else one_line(source.locator, 2000),
        "note": source.content_hash,
    }
    return {name: value for name, value in item.items() if value}


def _csl_type(source: SourceText) -> str:
    if _ARXIV_URL.search(source.locator):
        return "article"
    if http_address(source.locator):
        return "webpage"
    return "dataset" if source.kind == "database" else "document"


def _authors(source: SourceText) -> list[str]:
    return [author for part in _AUTHORS.split(source.author) if (author := one_line(part, 200))]


def _accessed(source: SourceText) -> date | None:
    try:
        return datetime.fromisoformat(source.fetched).date()
    except ValueError:
        return None


def _date_parts(day: date | None) -> object:
    return {"date-parts": [[day.year, day.month, day.day]]} if day else None
