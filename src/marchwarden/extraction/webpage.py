"""Extract the article of a web page, without menus and other boilerplate. Does not access the network."""

import re
from typing import Final

import lxml.etree
import lxml.html
import trafilatura

from marchwarden.extraction import outline
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.plain import parse_day
from marchwarden.text.sanitize import printable

MAX_SURFACE: Final = 4_000
SUSPICIOUSLY_SHORT: Final = 600
LOOSE_FACTOR: Final = 5

_NOT_TEXT: Final = ("script", "style", "noscript", "template", "svg", "head", "nav", "footer")
_INLINE: Final = re.compile(
    "a|abbr|b|bdi|bdo|cite|code|data|dfn|em|font|i|img|kbd|mark|q|rp|rt|ruby|s|samp|small|span|strong|sub|sup|time|tt|u|"
    "var|wbr"
)
_BETWEEN_ROWS: Final = re.compile(r"(?<=\|)\n\n(?=\|)")
# Use only dates that the page declares, not any number in its text.
_DECLARED_DATES: Final = {"extensive_search": False, "original_date": True}


def read(markup: str) -> Extracted:
    """Extract the article of a page, or all its text if no article can be found."""
    tree = _tree(printable(markup))
    links, signs = outline.find_links(tree), outline.find_signs(tree)
    article = _extract_article(tree, precise=True)
    page_text = all_text(markup)
    text = _main_text(markup, article) or page_text
    if not text:
        raise Unreadable("a web page without text")
    return Extracted(
        text=text,
        title=article.title or _title(tree),
        author=article.author or "",
        published=parse_day(article.date or ""),
        media_type="text/html",
        links=links,
        surface=page_text[:MAX_SURFACE],
        signs=signs,
    )


def _extract_article(tree: lxml.html.HtmlElement, *, precise: bool) -> trafilatura.settings.Document:
    article = trafilatura.bare_extraction(
        tree,
        favor_precision=precise,
        include_comments=False,
        with_metadata=True,
        date_extraction_params=_DECLARED_DATES,
    )
    return article if isinstance(article, trafilatura.settings.Document) else trafilatura.settings.Document()


def _main_text(markup: str, article: trafilatura.settings.Document) -> str:
    """The precise extraction, unless the loose one finds more than five times as much text."""
    text = _normalize_blocks(printable(article.text or ""))
    if len(text) >= SUSPICIOUSLY_SHORT:
        return text
    loose = _normalize_blocks(printable(_extract_article(_tree(printable(markup)), precise=False).text or ""))
    return loose if len(loose) > LOOSE_FACTOR * len(text) else text


def _tree(markup: str) -> lxml.html.HtmlElement:
    # lxml refuses a string that declares an encoding, so pass bytes.
    parser = lxml.html.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    try:
        tree = lxml.html.document_fromstring(markup.encode("utf-8"), parser=parser)
    except lxml.etree.ParserError as error:
        raise Unreadable("a web page without text") from error
    except lxml.etree.XMLSyntaxError as error:
        if error.code == lxml.etree.ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError from error
        raise Unreadable("a damaged web page") from error
    return tree


def _title(tree: lxml.html.HtmlElement) -> str:
    return str(tree.findtext(".//title") or "")


def all_text(markup: str) -> str:
    """Return all text of a page, block by block: for book chapters and for pages without an article."""
    tree = _tree(printable(markup))
    lxml.etree.strip_elements(tree, *_NOT_TEXT, with_tail=False)
    for element in tree.iter(lxml.etree.Element):
        # A line break in the markup is white space. Only a block element ends a line.
        element.text, element.tail = _join_lines(element.text), _join_lines(element.tail)
        if _is_cell(element):
            element.text, element.tail = f"| {element.text}", " " if element.getnext() is not None else " |"
        elif not _INLINE.fullmatch(element.tag):
            element.text, element.tail = f"\n{element.text}", f"\n{element.tail}"
    return _normalize_blocks(printable(str(tree.text_content())))


def _is_cell(element: lxml.html.HtmlElement) -> bool:
    """Whether the element is a cell of a data table. A cell with block elements belongs to a layout table."""
    return element.tag in ("td", "th") and all(_INLINE.fullmatch(each.tag) for each in element.iterdescendants())


def _join_lines(text: str | None) -> str:
    return (text or "").replace("\n", " ")


def _normalize_blocks(text: str) -> str:
    """Put each block on a line, with an empty line between blocks but not between table rows."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return _BETWEEN_ROWS.sub("\n", "\n\n".join(line for line in lines if line))
