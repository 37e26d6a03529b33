"""The readable part of a web page: the article, without what surrounds it. Fetches nothing, follows nothing."""

import re
from typing import Final

import lxml.etree
import lxml.html
import trafilatura

from marchwarden.extraction import outline
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.plain import day
from marchwarden.text.sanitize import printable

LONGEST_SURFACE: Final = 4_000
SUSPICIOUSLY_SHORT: Final = 600
NEXT_TO_NOTHING: Final = 5

_NOT_TEXT: Final = ("script", "style", "noscript", "template", "svg", "head", "nav", "footer")
_INLINE: Final = re.compile(
    "a|abbr|b|bdi|bdo|cite|code|data|dfn|em|font|i|img|kbd|mark|q|rp|rt|ruby|s|samp|small|span|strong|sub|sup|time|tt|u|"
    "var|wbr"
)
_BETWEEN_ROWS: Final = re.compile(r"(?<=\|)\n\n(?=\|)")
# Without the extensive search a date comes from what the page declares, not from any figure in its text.
_DECLARED_DATES: Final = {"extensive_search": False, "original_date": True}


def read(markup: str) -> Extracted:
    """The article of a page; all the page's text where no article can be told apart."""
    tree = _tree(printable(markup))
    links, signs = outline.links(tree), outline.signs(tree)
    found = _article(tree, precise=True)
    whole = all_text(markup)
    text = _main_text(markup, found) or whole
    if not text:
        raise Unreadable("a web page without text")
    return Extracted(
        text=text,
        title=found.title or _title(tree),
        author=found.author or "",
        published=day(found.date or ""),
        media_type="text/html",
        links=links,
        surface=whole[:LONGEST_SURFACE],
        signs=signs,
    )


def _article(tree: lxml.html.HtmlElement, *, precise: bool) -> trafilatura.settings.Document:
    article = trafilatura.bare_extraction(
        tree,
        favor_precision=precise,
        include_comments=False,
        with_metadata=True,
        date_extraction_params=_DECLARED_DATES,
    )
    return article if isinstance(article, trafilatura.settings.Document) else trafilatura.settings.Document()


def _main_text(markup: str, found: trafilatura.settings.Document) -> str:
    """The precise article, unless precision left next to nothing of one that was there."""
    text = _spaced(printable(found.text or ""))
    if len(text) >= SUSPICIOUSLY_SHORT:
        return text
    loose = _spaced(printable(_article(_tree(printable(markup)), precise=False).text or ""))
    return loose if len(loose) > NEXT_TO_NOTHING * len(text) else text


def _tree(markup: str) -> lxml.html.HtmlElement:
    # Bytes, because a string that declares an encoding is refused.
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
    """Everything a page says, block by block: for book chapters, and for pages that are no article."""
    tree = _tree(printable(markup))
    lxml.etree.strip_elements(tree, *_NOT_TEXT, with_tail=False)
    for element in tree.iter(lxml.etree.Element):
        # A line's end in the markup is white space; only a block ends a line of text.
        element.text, element.tail = _flowing(element.text), _flowing(element.tail)
        if _is_cell(element):
            element.text, element.tail = f"| {element.text}", " " if element.getnext() is not None else " |"
        elif not _INLINE.fullmatch(element.tag):
            element.text, element.tail = f"\n{element.text}", f"\n{element.tail}"
    return _spaced(printable(str(tree.text_content())))


def _is_cell(element: lxml.html.HtmlElement) -> bool:
    """Of a table with rows to read; one that holds blocks only lays a page out."""
    return element.tag in ("td", "th") and all(_INLINE.fullmatch(each.tag) for each in element.iterdescendants())


def _flowing(text: str | None) -> str:
    return (text or "").replace("\n", " ")


def _spaced(text: str) -> str:
    """One block a line, an empty line between any two; only the rows of a table stand together."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return _BETWEEN_ROWS.sub("\n", "\n\n".join(line for line in lines if line))
