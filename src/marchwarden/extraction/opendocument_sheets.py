"""Read the sheets of OpenDocument spreadsheets. The file stores each cell as it is displayed.

Why not calamine: it tells the stored numbers only, so that 15 % would be 0.15.
"""

from collections.abc import Iterator
from typing import Final

import lxml.etree

from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.opendocument_text import paragraph_text
from marchwarden.extraction.safe_xml import attribute, local_name
from marchwarden.extraction.sheets import Area, CellCount, Sheet, SheetCell, SheetRow, check_sheet_count, write_sheet

_GROUPS: Final = ("{*}table-header-rows", "{*}table-rows", "{*}table-row-group")
_NUMBERS: Final = frozenset({"float", "percentage", "currency", "date", "time"})
_MOST_MERGED: Final = 10_000
_MOST_DIGITS: Final = 7


def write_sheets(builder: DocumentBuilder, content: lxml.etree._Element, body: lxml.etree._Element) -> None:
    """Add all sheets."""
    tables = body.findall("{*}table")
    check_sheet_count(len(tables))
    hidden = _hidden_styles(content)
    count = CellCount()
    for table in tables:
        merged: list[Area] = []
        rows = list(_read_rows(table, count, merged))
        is_hidden = attribute(table, "style-name") in hidden
        write_sheet(builder, Sheet(attribute(table, "name"), rows, is_hidden, merged))


def _hidden_styles(content: lxml.etree._Element) -> frozenset[str]:
    styles = content.iterfind("{*}automatic-styles/{*}style")
    tables = ((style, style.find("{*}table-properties")) for style in styles)
    return frozenset(
        attribute(style, "name")
        for style, properties in tables
        if properties is not None and attribute(properties, "display") == "false"
    )


def _read_rows(table: lxml.etree._Element, count: CellCount, merged: list[Area]) -> Iterator[SheetRow]:
    """Yield the rows with text. A row that is repeated is yielded as often; repeated empty rows are only counted."""
    number = 0
    for row in _rows(table):
        cells = _read_cells(row, number, count, merged)
        repeated = _number(row, "number-rows-repeated")
        if cells:
            count.add(1)
            count.add(len(cells) * (repeated - 1), repeated - 1)
            yield from (SheetRow(number + at, cells) for at in range(repeated))
        number += repeated


def _rows(parent: lxml.etree._Element) -> Iterator[lxml.etree._Element]:
    for child in parent.iterchildren("{*}table-row", *_GROUPS):
        if local_name(child) == "table-row":
            yield child
        else:
            yield from _rows(child)


def _read_cells(row: lxml.etree._Element, number: int, count: CellCount, merged: list[Area]) -> dict[int, SheetCell]:
    cells: dict[int, SheetCell] = {}
    column = 0
    for cell in row.iterchildren("{*}table-cell", "{*}covered-table-cell"):
        repeated = _number(cell, "number-columns-repeated")
        text = _cell_text(cell)
        if text:
            count.add(repeated, 0)
            is_number = attribute(cell, "value-type") in _NUMBERS
            cells.update((column + at, SheetCell(text, is_number=is_number)) for at in range(repeated))
            down, across = _number(cell, "number-rows-spanned"), _number(cell, "number-columns-spanned")
            if down * across > 1 and len(merged) < _MOST_MERGED:
                merged.append(Area(number, column, number + down - 1, column + across - 1))
        column += repeated
    return cells


def _cell_text(cell: lxml.etree._Element) -> str:
    """Return the text as displayed, or the stored value if the file has no such text."""
    shown = " ".join(text for each in cell.iterchildren("{*}p") if (text := paragraph_text(each)))
    return shown or attribute(cell, "value") or attribute(cell, "date-value")


def _number(element: lxml.etree._Element, name: str) -> int:
    written = attribute(element, name)
    return max(int(written), 1) if written.isdecimal() and len(written) <= _MOST_DIGITS else 1
