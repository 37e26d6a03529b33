"""Read binary spreadsheets with calamine: `.xls` and `.xlsb`.

Calamine does not tell number formats: percentages and amounts of money are read as plain numbers.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from io import BytesIO
from typing import TYPE_CHECKING, Final

import python_calamine

from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.number_formats import plain, show_moment
from marchwarden.extraction.sheets import Area, CellCount, Sheet, SheetCell, SheetRow, check_sheet_count, write_sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

XLS: Final = "application/vnd.ms-excel"
_MOST_MERGED: Final = 10_000
_ENCRYPTED: Final = re.compile(rb"\x09\x08\x10\x00[\s\S]{16}\x2f\x00")
"""The start of an encrypted workbook: a BOF record and a FILEPASS record."""


def read(content: bytes) -> Extracted:
    """Read all sheets of a workbook."""
    builder = DocumentBuilder()
    try:
        with python_calamine.CalamineWorkbook.from_filelike(BytesIO(content)) as workbook:
            _write_sheets(builder, workbook)
    except python_calamine.PasswordError as error:
        raise Unreadable("an encrypted Excel workbook") from error
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        kind = "an encrypted" if _ENCRYPTED.search(content) else "a damaged"
        raise Unreadable(f"{kind} Excel workbook") from error
    if not builder.text:
        raise Unreadable("an Excel workbook without text")
    return Extracted(text=builder.text, media_type=XLS, blocks=builder.blocks, marks=builder.marks)


def _write_sheets(builder: DocumentBuilder, workbook: python_calamine.CalamineWorkbook) -> None:
    check_sheet_count(len(workbook.sheets_metadata))
    count = CellCount()
    for sheet in workbook.sheets_metadata:
        if sheet.typ is python_calamine.SheetTypeEnum.WorkSheet:
            found = workbook.get_sheet_by_name(sheet.name)
            merged = [Area(*first, *last) for first, last in (found.merged_cell_ranges or [])[:_MOST_MERGED]]
            is_hidden = sheet.visible is not python_calamine.SheetVisibleEnum.Visible
            write_sheet(builder, Sheet(sheet.name, list(_rows(found, count)), is_hidden, merged))


def _rows(sheet: python_calamine.CalamineSheet, count: CellCount) -> Iterator[SheetRow]:
    for number, values in enumerate(sheet.to_python(skip_empty_area=False)):
        shown = ((column, _cell(value)) for column, value in enumerate(values))
        cells = {column: cell for column, cell in shown if cell.text.strip()}
        count.add(len(cells))
        if cells:
            yield SheetRow(number, cells)


def _cell(value: object) -> SheetCell:
    match value:
        case bool():
            return SheetCell(str(value).upper())
        case int() | float():
            return SheetCell(plain(value), is_number=True)
        case datetime():
            return SheetCell(show_moment(value), is_number=True)
        case date() | time():
            return SheetCell(value.isoformat(), is_number=True)
        case timedelta():
            return SheetCell(str(value), is_number=True)
    return SheetCell(str(value))
