"""Write the text of OpenDocument files: headings, paragraphs, lists, tables, text boxes and notes."""

from collections.abc import Iterator, Sequence
from typing import Final

import lxml.etree

from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.document import Unreadable
from marchwarden.extraction.safe_xml import attribute, local_name

_LEFT_OUT: Final = frozenset({"tracked-changes", "table-of-content", "forms", "sequence-decls", "shapes", "notes"})
_BESIDE: Final = frozenset({"note", "annotation", "frame", "custom-shape", "text-box", "ruby-text", "bookmark"})
"""Elements inside a paragraph that are not part of its text."""
_TITLE_CLASSES: Final = frozenset({"title"})
_REPEATED_CLASSES: Final = frozenset({"header", "footer", "date-time", "page-number"})
_MOST_COLUMNS: Final = 200


class TextWriter:
    """Adds the text of elements to a builder. `roots` are the parts of the file that define styles."""

    def __init__(self, builder: DocumentBuilder, roots: Sequence[lxml.etree._Element]) -> None:
        self.title = ""
        self._builder = builder
        self._parents: dict[str, str] = {}
        self._numbered: set[tuple[str, int]] = set()
        for style in (each for root in roots for each in root.iter("{*}style")):
            self._parents[attribute(style, "name")] = attribute(style, "parent-style-name")
        for level in (each for root in roots for each in root.iter("{*}list-level-style-number")):
            if attribute(level, "num-format"):
                self._numbered.add((attribute(level.getparent(), "name"), _small(attribute(level, "level"), 1)))

    def write_all(self, parent: lxml.etree._Element) -> None:
        for child in parent:
            self._write(child)

    def write_slide(self, slide: lxml.etree._Element, number: int) -> None:
        frames = [frame for frame in slide if attribute(frame, "class") not in _REPEATED_CLASSES]
        titles = [frame for frame in frames if attribute(frame, "class") in _TITLE_CLASSES]
        title = " ".join(filter(None, (_text_of_all(frame) for frame in titles)))
        self._builder.heading(title or f"Slide {number}", 1)
        for frame in frames:
            if frame not in titles:
                self._write(frame)
        for paragraph in slide.iterfind("{*}notes//{*}p"):
            self._builder.note(paragraph_text(paragraph))

    def _write(self, element: lxml.etree._Element) -> None:
        match local_name(element):
            case "h":
                self._builder.heading(paragraph_text(element), _small(attribute(element, "outline-level"), 1))
                self._write_beside(element)
            case "p":
                self._write_paragraph(element)
            case "list":
                self._write_list(element, attribute(element, "style-name"), 0)
            case "table":
                self._write_table(element)
            case "":
                pass
            case name if name not in _LEFT_OUT:
                self.write_all(element)

    def _write_paragraph(self, paragraph: lxml.etree._Element) -> None:
        text = paragraph_text(paragraph)
        style = attribute(paragraph, "style-name")
        if "Title" in {style, self._parents.get(style)}:
            self.title = self.title or text
            self._builder.heading(text, 1)
        elif "Caption" in {style, self._parents.get(style)}:
            self._builder.caption(text)
        else:
            self._builder.paragraph(text)
        self._write_beside(paragraph)

    def _write_beside(self, element: lxml.etree._Element) -> None:
        """Add the notes, comments and text boxes of a paragraph."""
        for each in _outermost(element, _BESIDE):
            match local_name(each):
                case "note":
                    body = each.find("{*}note-body")
                    self._builder.note(_text_of_all(body) if body is not None else "")
                case "annotation":
                    self._builder.note(_text_of_all(each))
                case "frame" | "custom-shape":
                    self.write_all(each)

    def _write_list(self, list_: lxml.etree._Element, style: str, level: int) -> None:
        is_numbered = (style, level + 1) in self._numbered
        for number, item in enumerate(list_.iterchildren("{*}list-item", "{*}list-header"), 1):
            marker = f"{number}." if is_numbered else "-"
            for child in item:
                match local_name(child):
                    case "p" | "h":
                        text = paragraph_text(child)
                        self._builder.item(f"{marker} {text}".strip() if text else "", level)
                        self._write_beside(child)
                        marker = ""
                    case "list":
                        self._write_list(child, attribute(child, "style-name") or style, level + 1)

    def _write_table(self, table: lxml.etree._Element) -> None:
        header = [_row_cells(row) for group in table.iterfind("{*}table-header-rows") for row in _rows(group)]
        rows = [*header, *(_row_cells(row) for row in _rows(table))]
        width = max(map(len, rows), default=0)
        for at, cells in enumerate(rows):
            self._builder.row([*cells, *[""] * (width - len(cells))], header=at < len(header) < len(rows))


def paragraph_text(paragraph: lxml.etree._Element) -> str:
    """Return the text of a paragraph on one line, without its notes and text boxes."""
    return " ".join("".join(_pieces(paragraph)).split())


def _pieces(element: lxml.etree._Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        match local_name(child):
            case "s" | "tab" | "line-break":
                yield " "
            case name if name and name not in _BESIDE:
                yield from _pieces(child)
        yield child.tail or ""


def _text_of_all(element: lxml.etree._Element) -> str:
    """Return the text of all paragraphs in an element."""
    return " ".join(text for each in element.iter("{*}p", "{*}h") if (text := paragraph_text(each)))


def _outermost(element: lxml.etree._Element, names: frozenset[str]) -> Iterator[lxml.etree._Element]:
    for child in element:
        if local_name(child) in names:
            yield child
        else:
            yield from _outermost(child, names)


def _rows(parent: lxml.etree._Element) -> Iterator[lxml.etree._Element]:
    """Yield the rows of a table, also those in groups, but not those of its header."""
    for child in parent.iterchildren("{*}table-row", "{*}table-rows", "{*}table-row-group"):
        if local_name(child) == "table-row":
            yield child
        else:
            yield from _rows(child)


def _row_cells(row: lxml.etree._Element) -> list[str]:
    cells: list[str] = []
    for cell in row.iterchildren("{*}table-cell", "{*}covered-table-cell"):
        text = _text_of_all(cell)
        repeated = attribute(cell, "number-columns-repeated")
        cells += [text] * (int(repeated) if repeated.isdecimal() and len(repeated) < 4 else 1)  # noqa: PLR2004
        if len(cells) > _MOST_COLUMNS:
            raise Unreadable(f"a table with more than {_MOST_COLUMNS} columns")
    return cells


def _small(number: str, otherwise: int) -> int:
    return int(number) if number.isdecimal() and len(number) == 1 else otherwise
