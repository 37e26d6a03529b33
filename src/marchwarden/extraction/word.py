"""Read Word documents (.docx): headings, lists, tables, text boxes, charts, footnotes and comments in document order.

Headers, footers and deleted text are left out. Why not python-docx: it leaves out content controls, text boxes and
notes, and knows no list numbers.
"""

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import lxml.etree

from marchwarden.core.blocks import BlockKind
from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.charts import write_chart
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.open_packaging import follow, read_core_properties, relationships
from marchwarden.extraction.safe_xml import attribute, local_name, parse_xml
from marchwarden.extraction.word_styles import Numbering, ParagraphFormat, Styles
from marchwarden.extraction.zip_limits import check_size, read_entry

DOCX: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_KIND: Final = "a Word document"
_CONTAINERS: Final = frozenset({"sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag"})
_LEFT_OUT: Final = frozenset({"del", "moveFrom", "delText", "instrText", "pPr", "rPr", "Fallback", "txbxContent"})
_NOTES: Final = {"footnoteReference": "footnotes", "endnoteReference": "endnotes", "commentReference": "comments"}
_PLAIN_STYLES: Final = frozenset({"TableGrid", "TableNormal", "TableGridLight"})
_MOST_COLUMNS: Final = 200
_LONGEST_CELL: Final = 20_000


def read(archive: zipfile.ZipFile) -> Extracted:
    """Read the text. Does not expand entities or load external resources."""
    check_size(archive)
    path = follow(archive, "", "officeDocument") or "word/document.xml"
    body = parse_xml(read_entry(archive, path), _KIND).find("{*}body")
    reader = _WordReader(archive, path)
    if body is not None:
        reader.write_all(body)
    builder = reader.builder
    if not builder.text:
        raise Unreadable("a Word document without text")
    properties = read_core_properties(archive)
    return Extracted(
        text=builder.text,
        title=properties.title or reader.title or _first_heading(builder),
        author=properties.author,
        published=properties.created,
        media_type=DOCX,
        blocks=builder.blocks,
    )


def _first_heading(builder: DocumentBuilder) -> str:
    """Return the heading that the document starts with, if it does."""
    first = builder.blocks[0]
    return builder.text[first.start : first.end] if first.kind is BlockKind.HEADING else ""


@dataclass
class _WordReader:
    """Walks the body of a document."""

    archive: zipfile.ZipFile
    path: str
    builder: DocumentBuilder = field(default_factory=DocumentBuilder)
    title: str = ""

    def __post_init__(self) -> None:
        self._targets = relationships(self.archive, self.path)
        self._styles = Styles(self._part("styles"))
        self._numbering = Numbering.read(self._part("numbering"))
        self._notes = {kind: _notes_by_id(self._part(kind)) for kind in _NOTES.values()}

    def write_all(self, parent: lxml.etree._Element) -> None:
        for child in parent:
            match local_name(child):
                case "p":
                    self._write_paragraph(child)
                case "tbl":
                    self._write_table(child)
                case name if name in _CONTAINERS:
                    self.write_all(child)

    def _write_paragraph(self, paragraph: lxml.etree._Element) -> None:
        text = paragraph_text(paragraph)
        format_ = self._styles.format_of(paragraph)
        if text:
            self._write_text(text, format_)
        self._write_extras(paragraph)

    def _write_text(self, text: str, format_: ParagraphFormat) -> None:
        if format_.heading_level:
            if format_.name == "title" and not self.title:
                self.title = text
            self.builder.heading(text, format_.heading_level)
        elif format_.is_item:
            level = format_.list_level or 0
            self.builder.item(f"{self._numbering.next_marker(format_.list_id, min(level, 8))} {text}", level)
        elif format_.name == "caption":
            self.builder.caption(text)
        else:
            self.builder.paragraph(text)

    def _write_extras(self, element: lxml.etree._Element) -> None:
        """Add charts and text boxes that are anchored here, and the notes that are referred to."""
        for each in _visible(element, "chart", "txbxContent", *_NOTES):
            name = local_name(each)
            if name == "chart" and (target := self._targets.get(attribute(each, "id"), "")):
                write_chart(self.builder, parse_xml(read_entry(self.archive, target), _KIND))
            elif name == "txbxContent":
                self.write_all(each)
            elif name in _NOTES:
                self.builder.note(self._notes[_NOTES[name]].pop(attribute(each, "id"), ""))

    def _write_table(self, table: lxml.etree._Element) -> None:
        rows = [(row, _row_cells(row)) for row in _children(table, "tr")]
        width = max((len(cells) for _, cells in rows), default=0)
        if width > _MOST_COLUMNS:
            raise Unreadable(f"a table with more than {_MOST_COLUMNS} columns")
        above = _count_header_rows([row for row, _ in rows], table)
        for at, (_, cells) in enumerate(rows):
            self.builder.row([*cells, *[""] * (width - len(cells))], header=at < above)
        for row, _ in rows:
            self._write_extras(row)

    def _part(self, kind: str) -> lxml.etree._Element | None:
        path = follow(self.archive, self.path, kind)
        return parse_xml(read_entry(self.archive, path), _KIND) if path else None


def paragraph_text(paragraph: lxml.etree._Element) -> str:
    """Return the visible text of a paragraph on one line, without text boxes and deletions."""
    pieces: list[str] = []
    for each in _visible(paragraph, "t", "tab", "br", "cr", "noBreakHyphen"):
        match local_name(each):
            case "t":
                pieces.append(each.text or "")
            case "noBreakHyphen":
                pieces.append("-")
            case _:
                pieces.append(" ")
    return " ".join("".join(pieces).split())


def _visible(element: lxml.etree._Element, *names: str) -> Iterator[lxml.etree._Element]:
    """Yield the descendants with these names, in order. Does not look inside them, nor inside what is left out."""
    for child in element:
        name = local_name(child)
        if name in names:
            yield child
        elif name not in _LEFT_OUT:
            yield from _visible(child, *names)


def _children(parent: lxml.etree._Element, name: str) -> Iterator[lxml.etree._Element]:
    """Yield children with this name, also those in content controls."""
    for child in parent:
        if local_name(child) == name:
            yield child
        elif local_name(child) in _CONTAINERS:
            yield from _children(child, name)


def _row_cells(row: lxml.etree._Element) -> list[str]:
    """Return the texts of the cells. A cell that spans columns is followed by empty ones."""
    cells: list[str] = []
    for cell in _children(row, "tc"):
        span = cell.find("{*}tcPr/{*}gridSpan")
        written = "" if span is None else attribute(span, "val")
        columns = int(written) if written.isdecimal() and len(written) <= 3 else 1  # noqa: PLR2004
        cells += [_cell_text(cell)[:_LONGEST_CELL], *[""] * (columns - 1)]
    return cells


def _cell_text(cell: lxml.etree._Element) -> str:
    """Return the text of all paragraphs in a cell, also those of tables in it."""
    paragraphs = (paragraph_text(each) for each in _visible(cell, "p"))
    return " ".join(text for text in paragraphs if text)


def _count_header_rows(rows: list[lxml.etree._Element], table: lxml.etree._Element) -> int:
    """Count the rows that repeat on each page; otherwise 1 if the first row looks like a header. 0 if nothing tells."""
    repeated = 0
    while repeated < len(rows) - 1 and rows[repeated].find("{*}trPr/{*}tblHeader") is not None:
        repeated += 1
    if repeated or len(rows) == 1 or not rows:
        return repeated
    return int((_is_bold(rows[0]) and not _is_bold(rows[1])) or _style_sets_off_first_row(table))


def _is_bold(row: lxml.etree._Element) -> bool:
    runs = [run for run in row.iter("{*}r") if run.find("{*}t") is not None]
    bold = (run.find("{*}rPr/{*}b") for run in runs)
    return bool(runs) and all(each is not None and attribute(each, "val") not in {"0", "false"} for each in bold)


def _style_sets_off_first_row(table: lxml.etree._Element) -> bool:
    """Whether the table has a style with a special first row. Plain styles have none, although tables ask for it."""
    style, look = table.find("{*}tblPr/{*}tblStyle"), table.find("{*}tblPr/{*}tblLook")
    if style is None or look is None or attribute(style, "val") in _PLAIN_STYLES:
        return False
    written = attribute(look, "firstRow")
    if written:
        return written in {"1", "true"}
    bits = attribute(look, "val")
    return bits.isalnum() and bits.isascii() and bits[-2:-1] in set("2367aAbBeEfF")


def _notes_by_id(root: lxml.etree._Element | None) -> dict[str, str]:
    """Map the ids of notes to their texts. The lines that separate notes from the page are left out."""
    if root is None:
        return {}
    notes = ((attribute(note, "id"), note) for note in root if attribute(note, "type") in {"", "normal"})
    return {id_: " ".join(filter(None, map(paragraph_text, note.iter("{*}p")))) for id_, note in notes}
