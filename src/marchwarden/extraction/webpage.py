"""Read a web page: its article without menus and other boilerplate, as blocks. Does not access the network."""

import re
from dataclasses import dataclass
from typing import Final

import lxml.etree
import lxml.html
import trafilatura

from marchwarden.extraction import outline
from marchwarden.extraction.article import keep_article, letters_of
from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.html_blocks import add_blocks
from marchwarden.extraction.html_elements import is_inline
from marchwarden.extraction.page_title import find_titles
from marchwarden.extraction.plain import parse_day
from marchwarden.text.sanitize import printable

MAX_SURFACE: Final = 4_000
SUSPICIOUSLY_SHORT: Final = 600
LOOSE_FACTOR: Final = 5
FEWEST_KEPT: Final = 0.8
"""Share of the article's letters that must be found in the blocks of the page. Otherwise, the article is used."""

_NOT_TEXT: Final = ("script", "style", "noscript", "template", "svg", "head", "nav", "footer")
_DOCUMENT_GENERATOR: Final = re.compile(
    r"docbook|publican|sphinx|docutils|mkdocs|doxygen|javadoc|asciidoc|pandoc|texi2any|makeinfo|texinfo|groff|man2html|"
    r"rustdoc|hevea|tex4ht|latex|docusaurus|antora|gitbook|libreoffice|openoffice|microsoft word|yelp|gtk-doc|pydoc|"
    r"jupyter|nbconvert|quarto|bookdown|org.mode|org-mode|emacs|vitepress|mdbook",
    re.IGNORECASE,
)
"""Programs that write documents. Their pages have nothing to remove but navigation, which has its own elements."""
# Use only dates that the page declares, not any number in its text.
_DECLARED_DATES: Final = {"extensive_search": False, "original_date": True}
_DATE_FIELDS: Final = frozenset({"date", "dc.date", "dcterms.date", "dcterms.created", "article:published_time"})


@dataclass(frozen=True)
class _Article:
    """The main part of a page, and the metadata that goes with it."""

    content: DocumentBuilder
    author: str
    published: str


def read(markup: str) -> Extracted:
    """Extract the article of a page, or all its text if no article can be found."""
    tree = _tree(printable(markup))
    links, signs = outline.find_links(tree), outline.find_signs(tree)
    titles = find_titles(tree)
    page = read_blocks(_main_element(tree))
    article = _read_document(tree, page) if _is_document(tree) else _read_article(markup, tree, page)
    surface = _all_text(_tree(printable(markup)))
    content = article.content if article.content.text else _lines(surface)
    if not content.text:
        raise Unreadable("a web page without text")
    return Extracted(
        text=content.text,
        title=titles.title,
        site=titles.site,
        author=article.author,
        published=parse_day(article.published),
        media_type="text/html",
        blocks=content.blocks,
        links=links,
        surface=surface[:MAX_SURFACE],
        signs=signs,
    )


def read_blocks(element: lxml.html.HtmlElement) -> DocumentBuilder:
    """Read all blocks of an element, without navigation."""
    builder = DocumentBuilder()
    add_blocks(builder, element)
    return builder


def read_fragment(markup: str) -> DocumentBuilder:
    """Read the blocks of some HTML, such as a chapter of a book or the body of an email."""
    return read_blocks(_tree(printable(markup)))


def _is_document(tree: lxml.html.HtmlElement) -> bool:
    generators = (meta for meta in tree.iter("meta") if (meta.get("name") or "").lower() == "generator")
    return any(_DOCUMENT_GENERATOR.search(meta.get("content") or "") for meta in generators)


def _main_element(tree: lxml.html.HtmlElement) -> lxml.html.HtmlElement:
    """The element that the page declares as its main part, or the whole page."""
    for path in (".//main", ".//*[@role='main']"):
        if (found := tree.find(path)) is not None:
            return found
    return tree


def _read_document(tree: lxml.html.HtmlElement, page: DocumentBuilder) -> _Article:
    fields = {
        (meta.get("name") or meta.get("property") or "").lower(): meta.get("content") or ""
        for meta in reversed([*tree.iter("meta")])
    }
    published = next((fields[name] for name in sorted(_DATE_FIELDS & fields.keys())), "")
    return _Article(page, fields.get("author", ""), published)


def _read_article(markup: str, tree: lxml.html.HtmlElement, page: DocumentBuilder) -> _Article:
    extracted = _extract_article(tree, precise=True)
    text = _main_text(markup, extracted)
    # A page this short, without links, has no menus around its article.
    is_plain = len(page.text) < SUSPICIOUSLY_SHORT and tree.find(".//a[@href]") is None
    content = page if is_plain else keep_article(page, text)
    if len(letters_of(content.text)) < FEWEST_KEPT * len(letters_of(text)):
        # The article is outside of the declared main part, or its text was put together differently.
        content = keep_article(read_blocks(_tree(printable(markup))), text)
    if len(letters_of(content.text)) < FEWEST_KEPT * len(letters_of(text)):
        content = _lines(text)
    return _Article(content, extracted.author or "", extracted.date or "")


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
    text = printable(article.text or "")
    if len(text) >= SUSPICIOUSLY_SHORT:
        return text
    loose = printable(_extract_article(_tree(printable(markup)), precise=False).text or "")
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


def _all_text(tree: lxml.html.HtmlElement) -> str:
    """Return all text of a page including notices and boilerplate, a line for each block. Changes the tree."""
    lxml.etree.strip_elements(tree, *_NOT_TEXT, with_tail=False)
    for element in tree.iter(lxml.etree.Element):
        # A line break in the markup is white space. Only a block element ends a line.
        ends_line = not is_inline(element)
        element.text, element.tail = (
            _on_one_line(piece, ends_line=ends_line) for piece in (element.text, element.tail)
        )
    lines = (" ".join(line.split()) for line in printable(str(tree.text_content())).split("\n"))
    return "\n\n".join(line for line in lines if line)


def _on_one_line(text: str | None, *, ends_line: bool) -> str:
    line = (text or "").replace("\n", " ")
    return f"\n{line}" if ends_line else line


def _lines(text: str) -> DocumentBuilder:
    builder = DocumentBuilder()
    for line in text.split("\n"):
        builder.paragraph(line)
    return builder
