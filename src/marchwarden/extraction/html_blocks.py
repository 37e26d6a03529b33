"""Turn the elements of an HTML page into blocks. Outside of `pre`, white space in the markup is a space."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import lxml.html

from marchwarden.core.blocks import BlockKind
from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.html_elements import (
    cell_text,
    code_text,
    formula_of,
    heading_text,
    is_inline,
    is_permalink,
    is_reference,
    is_skipped,
    raised_number,
)
from marchwarden.extraction.html_tables import HtmlTable, find_stacked_cells, read_table

MAX_DEPTH: Final = 200
"""Elements nested more deeply are read as plain text."""

_HEADING: Final = re.compile(r"h([1-6])")
_LISTS: Final = frozenset({"ul", "ol", "dir"})
_ADMONITION: Final = re.compile(
    r"(?:^|[\s_-])(?:admonition|note|notes|warning|caution|tip|important|hint|danger|callout|alert)(?:$|[\s_-])"
)
_CODE_TABLE: Final = re.compile(r"highlighttable|rouge-table|linenodiv|code-table", re.IGNORECASE)


def add_blocks(builder: DocumentBuilder, root: lxml.html.HtmlElement) -> None:
    """Add the blocks below an element."""
    writer = _BlockWriter(builder)
    writer.walk(root, _Context())
    writer.flush()


class _Context:
    """Where an element is: the kind of its text, how deeply it is nested, and the bullet of its list item."""

    __slots__ = ("bullet", "depth", "is_note", "kind", "level")

    def __init__(
        self,
        kind: BlockKind = BlockKind.PARAGRAPH,
        level: int = 0,
        bullet: str = "",
        depth: int = 0,
        *,
        is_note: bool = False,
    ) -> None:
        self.kind = kind
        self.level = level
        self.bullet = bullet
        self.depth = depth
        self.is_note = is_note

    def inside(self, kind: BlockKind | None = None, level: int | None = None, bullet: str = "") -> "_Context":
        chosen, nested = kind or self.kind, self.level if level is None else level
        return _Context(chosen, nested, bullet, self.depth + 1, is_note=self.is_note or chosen is BlockKind.NOTE)


class _BlockWriter:
    """Collects text until a block element begins or ends, then adds it as a block."""

    def __init__(self, builder: DocumentBuilder) -> None:
        self._builder = builder
        self._text: list[str] = []
        self._context = _Context()
        self._bullet = ""

    def flush(self) -> None:
        """Add the collected text as a block of the current context."""
        text, self._text = "".join(self._text), []
        if not text.strip():
            return
        context = self._context
        match context.kind:
            case BlockKind.ITEM if self._bullet:
                self._builder.item(f"{self._bullet} {text.strip()}", context.level)
                self._bullet = ""
            case BlockKind.ITEM:
                self._builder.paragraph(text, context.level + 1)
            case BlockKind.TERM:
                self._builder.term(text, context.level)
            case BlockKind.DESCRIPTION:
                self._builder.description(text, context.level)
            case BlockKind.NOTE:
                self._builder.note(text, context.level)
            case BlockKind.CAPTION:
                self._builder.caption(text)
            case _:
                self._builder.paragraph(text, context.level)

    def walk(self, element: lxml.html.HtmlElement, context: _Context) -> None:
        """Add everything inside an element, without its tail."""
        if context.depth > MAX_DEPTH:
            self._text.append(str(element.text_content()))
            return
        self._add_text(element.text)
        for child in element:
            self._child(child, context)
            self._context = context
            self._add_text(child.tail)

    def _child(self, element: lxml.html.HtmlElement, context: _Context) -> None:
        tag = element.tag
        if not isinstance(tag, str) or is_skipped(element):
            return
        if is_inline(element) or tag == "br":
            self._inline(element, context)
            return
        self.flush()
        self._block(element, context)
        self.flush()

    def _inline(self, element: lxml.html.HtmlElement, context: _Context) -> None:
        match element.tag:
            case "br":
                following = element.getnext()
                if following is not None and following.tag == "br" and not (element.tail or "").strip():
                    self.flush()
                else:
                    self._text.append(" ")
            case "a" if is_permalink(element):
                pass
            case "sup" | "a" if is_reference(element):
                pass
            case "sup" if raised := raised_number(element):
                self._text.append(raised)
            case "math" | "img" if formula := formula_of(element):
                self._text.append(formula)
            case _:
                self.walk(element, context)

    def _block(self, element: lxml.html.HtmlElement, context: _Context) -> None:
        tag = element.tag
        if heading := _HEADING.fullmatch(tag):
            self._heading(element, int(heading[1]), context)
        elif tag in {"pre", "listing", "xmp", "plaintext"}:
            self._builder.code(code_text(element), context.level + (context.kind is not BlockKind.PARAGRAPH))
        elif tag in _LISTS:
            self._list(element, context)
        elif tag == "dl":
            self._definitions(element, context)
        elif tag == "table":
            self._table(element, context)
        else:
            self._enter(element, _inner_context(element, context))

    def _enter(self, element: lxml.html.HtmlElement, context: _Context) -> None:
        self._context = context
        self.walk(element, context)
        self.flush()

    def _heading(self, element: lxml.html.HtmlElement, level: int, context: _Context) -> None:
        """Add a heading. In a note, a table or a list it names no section of the page."""
        text = heading_text(element)
        if context.kind is BlockKind.PARAGRAPH and not context.is_note:
            self._builder.heading(text, level)
        elif text and not (context.is_note and len(text.split()) == 1):
            self._text.append(text)

    def _list(self, element: lxml.html.HtmlElement, context: _Context) -> None:
        level = context.level + (context.kind is not BlockKind.PARAGRAPH)
        number = _start(element)
        for child in element:
            if not isinstance(child.tag, str) or is_skipped(child):
                continue
            if child.tag in _LISTS:  # invalid, and common
                self._list(child, context.inside(BlockKind.ITEM, level))
                continue
            self._bullet = f"{number}." if element.tag == "ol" else "-"
            number += 1
            self._enter(child, context.inside(BlockKind.ITEM, level))
            self._bullet = ""

    def _definitions(self, element: lxml.html.HtmlElement, context: _Context) -> None:
        level = context.level + (context.kind is not BlockKind.PARAGRAPH)
        for child in _definition_parts(element):
            if child.tag == "dt":
                self._enter(child, context.inside(BlockKind.TERM, level))
            else:
                self._enter(child, context.inside(BlockKind.DESCRIPTION, level))

    def _table(self, element: lxml.html.HtmlElement, context: _Context) -> None:
        table = read_table(element, cell_text) if not _CODE_TABLE.search(_name_of(element)) else None
        if table is not None:
            self._add_rows(table)
        elif context.kind is BlockKind.PARAGRAPH and (cells := find_stacked_cells(element)):
            self._add_stacked(cells, context)
        else:
            self._enter(element, context.inside())

    def _add_stacked(self, cells: Sequence[lxml.html.HtmlElement], context: _Context) -> None:
        """Add cells that hold a name and, below it, its description."""
        for cell in cells:
            name, *description = cell
            self._builder.term(cell_text(name), context.level)
            for part in description:
                self._enter(part, context.inside(BlockKind.DESCRIPTION))

    def _add_rows(self, table: HtmlTable) -> None:
        if table.caption:
            self._builder.caption(table.caption)
        for row in table.header:
            self._builder.row(row, header=True)
        for row in table.rows:
            self._builder.row(row)

    def _add_text(self, text: str | None) -> None:
        if text:
            self._text.append(text)


def _inner_context(element: lxml.html.HtmlElement, context: _Context) -> _Context:
    if element.tag in {"figcaption", "caption"}:
        return context.inside(BlockKind.CAPTION)
    if element.tag in {"aside", "div", "blockquote", "section"} and _ADMONITION.search(_name_of(element).lower()):
        return context.inside(BlockKind.NOTE) if context.kind is BlockKind.PARAGRAPH else context.inside()
    return context.inside()


def _name_of(element: lxml.html.HtmlElement) -> str:
    return f"{element.get('class') or ''} {element.get('role') or ''}"


def _start(element: lxml.html.HtmlElement) -> int:
    start = element.get("start") or ""
    return int(start) if start.isdecimal() and len(start) <= len("99999") else 1


def _definition_parts(element: lxml.html.HtmlElement) -> Iterator[lxml.html.HtmlElement]:
    for child in element:
        if not isinstance(child.tag, str) or is_skipped(child):
            continue
        if child.tag == "div":  # HTML 5 allows a group around terms and descriptions
            yield from _definition_parts(child)
        else:
            yield child
