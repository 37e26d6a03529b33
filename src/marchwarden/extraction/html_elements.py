"""What single elements of an HTML page mean: shown or hidden, inline, a permalink, a footnote number, a formula."""

import re
from collections.abc import Iterator
from typing import Final

import lxml.html

_SKIPPED: Final = frozenset(
    {
        *("script", "style", "noscript", "template", "svg", "head", "nav", "footer", "iframe", "object", "canvas"),
        *("button", "select", "option", "input", "textarea", "audio", "video", "dialog", "menu"),
    }
)
_INLINE: Final = re.compile(
    "a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|img|ins|kbd|label|mark|math|nobr|output|q|rb|rp|rt|"
    "rtc|ruby|s|samp|small|span|strike|strong|sub|sup|time|tt|u|var|wbr|mi|mo|mn|mrow|msup|msub|mfrac|mtext|semantics"
)
_NAVIGATION: Final = re.compile(
    r"(?:^|\s)(?:nav(?:header|footer|bar|igation)?|toc|table-of-contents|contents|breadcrumbs?|sidebar|sphinxsidebar|"
    r"related|menu|pagination|sr-only|visually-hidden|screen-reader-text|mw-editsection|mw-jump-link|navbox|catlinks|"
    r"cookie\S*|skip-?link|share|social)(?:$|\s)",
    re.IGNORECASE,
)
_PERMALINK: Final = re.compile(
    r"(?:^|[\s_-])(?:headerlink|anchor-?link|permalink|heading-anchor)(?:$|\s)", re.IGNORECASE
)
_REFERENCE: Final = re.compile(r"(?:^|\s)(?:reference|noteref|footnote\S*)(?:$|\s)", re.IGNORECASE)
_NOTE_NUMBER: Final = re.compile(r"\[?\s*(?:note\s)?(?:\d{1,3}|[a-z]|[*†‡§]{1,3})\s*\]?", re.IGNORECASE)
_RAISED_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,4}")
_RAISED: Final = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
_NOTE_TITLE: Final = re.compile(r"(?:^|\s)admonition-title(?:$|\s)")
_HIDDEN_STYLE: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_PERMALINK_SIGNS: Final = "¶#§🔗⚓"
_ROLES: Final = frozenset({"navigation", "search", "banner", "contentinfo", "complementary", "menu", "menubar"})
_FORMULA_IMAGE: Final = re.compile(r"(?:^|[\s_-])(?:math|tex|latex)(?:$|[\s_-])", re.IGNORECASE)
_LINE_NUMBERS: Final = re.compile(r"(?:^|\s)(?:linenos|gutter|line-?numbers?|lineno)(?:$|\s)", re.IGNORECASE)


def is_inline(element: lxml.html.HtmlElement) -> bool:
    """Whether the element is part of a line of text."""
    return _INLINE.fullmatch(element.tag) is not None


def is_skipped(element: lxml.html.HtmlElement) -> bool:
    if element.tag in _SKIPPED or element.get("hidden") is not None or element.get("role") in _ROLES:
        return True
    if element.get("aria-hidden") == "true" or _HIDDEN_STYLE.search(element.get("style") or ""):
        return True
    if element.tag in {"header", "aside"} and element.find(".//h1") is None and element.find(".//p") is None:
        return True
    name = element.get("class")
    if not name or element.tag in {"body", "html", "main", "article"}:
        return False
    return any(pattern.search(name) for pattern in (_NAVIGATION, _NOTE_TITLE, _LINE_NUMBERS))


def formula_of(element: lxml.html.HtmlElement) -> str:
    """Return a formula as it was written in TeX, if the page has that."""
    if element.tag == "img":
        written = (element.get("alt") or "") if _FORMULA_IMAGE.search(element.get("class") or "") else ""
    else:
        annotation = element.find(".//annotation[@encoding='application/x-tex']")
        written = element.get("alttext") or (str(annotation.text_content()) if annotation is not None else "")
    return f"\\({written.strip()}\\)" if written.strip() else ""


def is_permalink(element: lxml.html.HtmlElement) -> bool:
    if _PERMALINK.search(element.get("class") or ""):
        return True
    text = str(element.text_content()).strip()
    return bool(text) and not text.strip(_PERMALINK_SIGNS) and (element.get("href") or "").startswith("#")


def is_reference(element: lxml.html.HtmlElement) -> bool:
    """Whether the element is the number of a footnote, such as `[12]`."""
    name = f"{element.get('class') or ''} {(element.get('role') or '').removeprefix('doc-')}"
    return (
        _REFERENCE.search(name) is not None and _NOTE_NUMBER.fullmatch(str(element.text_content()).strip()) is not None
    )


def raised_number(element: lxml.html.HtmlElement) -> str:
    """Return a short number that is raised with raised digits, so that 2<sup>31</sup> does not read as 231."""
    text = "".join(str(element.text_content()).split()).replace("\N{MINUS SIGN}", "-")
    return text.translate(_RAISED) if _RAISED_NUMBER.fullmatch(text) else ""


def heading_text(element: lxml.html.HtmlElement) -> str:
    """Return the text of a heading without its permalink."""
    return " ".join("".join(_heading_pieces(element)).split())


def _heading_pieces(element: lxml.html.HtmlElement) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if isinstance(child.tag, str) and not is_skipped(child) and not (child.tag == "a" and is_permalink(child)):
            yield from (" ",) if child.tag == "br" else _heading_pieces(child)
        yield child.tail or ""


def cell_text(element: lxml.html.HtmlElement) -> str:
    """Return the text of a table cell on one line."""
    return " ".join("".join(_cell_pieces(element)).split())


def _cell_pieces(element: lxml.html.HtmlElement) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if isinstance(child.tag, str) and not is_skipped(child):
            is_left_out = (child.tag == "a" and is_permalink(child)) or (
                child.tag in {"sup", "a"} and is_reference(child)
            )
            raised = raised_number(child) if child.tag == "sup" else ""
            pieces = () if is_left_out else (raised,) if raised else _cell_pieces(child)
            yield from pieces if _INLINE.fullmatch(child.tag) else (" ", *pieces, " ")
        yield child.tail or ""


def code_text(element: lxml.html.HtmlElement) -> str:
    for each in element.iter("br"):
        each.tail = f"\n{each.tail or ''}"
    return str(element.text_content())
