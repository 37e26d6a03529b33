"""Find the title of a web page and the name of the site or manual that it is part of."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import lxml.html

from marchwarden.extraction.html_elements import heading_text
from marchwarden.text.sanitize import one_line

_SEPARATOR: Final = re.compile(r"\s+[|—–·•»«:-]+\s+|:\s+|\s*(?:—|::|»|«|\|)\s*")
_NO_LETTER: Final = re.compile(r"[\W_]+")
_NO_NAME: Final = frozenset({"home", "homepage", "index", "start", "contents", "top", "untitled", "untitleddocument"})


@dataclass(frozen=True)
class PageTitles:
    """The title of a page without the name of its site, and that name if the page gives it."""

    title: str
    site: str


def find_titles(tree: lxml.html.HtmlElement) -> PageTitles:
    """Read the titles. The first heading tells which part of the `title` element is the title of the page."""
    written = one_line(str(tree.findtext(".//title") or ""))
    heading = next((text for text in map(one_line, _main_headings(tree)) if text), "")
    title = _title_of_page(written, heading)
    site = next((name for name in map(one_line, _site_names(tree)) if _is_name_of_site(name, title)), "")
    rest = _without(written, title)
    return PageTitles(title, site or (rest if _is_name_of_site(rest, title) else ""))


def _title_of_page(written: str, heading: str) -> str:
    """The heading if the `title` element repeats it, next to other words or not; the `title` element otherwise."""
    if not written or not heading:
        return written or heading
    if _letters(heading) and _letters(heading) in _letters(written):
        return heading
    return written


def _without(written: str, title: str) -> str:
    """Return the parts of the `title` element that are not the title."""
    parts = _SEPARATOR.split(written)
    rest = [part for part in parts if _letters(part) and _letters(part) not in _letters(title)]
    return rest[-1] if rest and title != written else ""


def _main_headings(tree: lxml.html.HtmlElement) -> Iterator[str]:
    for tag in ("h1", "h2"):
        yield from (heading_text(each) for each in tree.iter(tag))


def _site_names(tree: lxml.html.HtmlElement) -> Iterator[str]:
    """Yield what the page calls its site: in its metadata, and in its link to the start page."""
    yield from (meta.get("content") or "" for meta in tree.iter("meta") if meta.get("property") == "og:site_name")
    for each in tree.iter("link", "a"):
        if "home" in (each.get("rel") or "").lower().split() or each.get("accesskey") == "h":
            yield each.get("title") or ""


def _is_name_of_site(name: str, title: str) -> bool:
    letters = _letters(name)
    return bool(letters) and letters not in _NO_NAME and letters != _letters(title)


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", text).casefold()
