"""Read spreadsheets: `.xlsx` and `.xlsm`.

Formulas are not evaluated: a cell has the value that was stored with it. Hidden sheets are read and marked as hidden.
Why not calamine: it does not tell number formats, so that 15 % would be 0.15, and it reserves memory for all cells
between the first and the last, so that two cells in the corners of a sheet end the process.
"""

import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import lxml.etree

from marchwarden.extraction import binary_workbook
from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.number_formats import (
    BUILT_IN,
    EPOCH,
    display,
    is_date_format,
    show_date_number,
    show_moment,
)
from marchwarden.extraction.open_packaging import follow, read_core_properties, relationships
from marchwarden.extraction.safe_xml import attribute, iter_xml, local_name, parse_xml
from marchwarden.extraction.sheets import Area, CellCount, Sheet, SheetCell, SheetRow, check_sheet_count, write_sheet
from marchwarden.extraction.zip_limits import check_size, read_entry

XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_KIND: Final = "an Excel workbook"
_REFERENCE: Final = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")
_MOST_MERGED: Final = 10_000
_EPOCH_1904: Final = datetime(1904, 1, 1)  # noqa: DTZ001 - dates in workbooks have no time zone


def read(archive: zipfile.ZipFile) -> Extracted:
    """Read all sheets of an `.xlsx` or `.xlsm` workbook."""
    check_size(archive)
    if "xl/workbook.bin" in archive.namelist():
        return _read_bytes_of(archive)
    path = follow(archive, "", "officeDocument") or "xl/workbook.xml"
    workbook = parse_xml(read_entry(archive, path), _KIND)
    targets = relationships(archive, path)
    sheets = workbook.findall(".//{*}sheets/{*}sheet")
    check_sheet_count(len(sheets))
    cells = _CellReader(
        strings=_shared_strings(archive, follow(archive, path, "sharedStrings")),
        styles=_styles(archive, follow(archive, path, "styles")),
        epoch=_EPOCH_1904 if workbook.find(".//{*}workbookPr[@date1904='1']") is not None else EPOCH,
    )
    builder = DocumentBuilder()
    for element in sheets:
        target = targets.get(element.get(_relationship_attribute(element), ""))
        if target and posixpath.basename(posixpath.dirname(target)) in {"worksheets", "xl"}:
            rows, merged = cells.read_rows(read_entry(archive, target))
            is_hidden = element.get("state", "visible") != "visible"
            write_sheet(builder, Sheet(attribute(element, "name"), rows, is_hidden, merged))
    if not builder.text:
        raise Unreadable("an Excel workbook without text")
    properties = read_core_properties(archive)
    return Extracted(
        text=builder.text,
        title=properties.title,
        author=properties.author,
        published=properties.created,
        media_type=XLSX,
        blocks=builder.blocks,
        marks=builder.marks,
    )


def _read_bytes_of(archive: zipfile.ZipFile) -> Extracted:
    assert archive.fp is not None, "the caller keeps the archive open"
    archive.fp.seek(0)
    return binary_workbook.read(archive.fp.read())


@dataclass(frozen=True)
class _Style:
    code: str = ""
    is_bold: bool = False


@dataclass(frozen=True)
class _CellReader:
    """Reads the cells of one workbook."""

    strings: Sequence[str]
    styles: Sequence[_Style]
    epoch: datetime
    count: CellCount = field(default_factory=CellCount)

    def read_rows(self, content: bytes) -> tuple[list[SheetRow], list[Area]]:
        rows: list[SheetRow] = []
        merged: list[Area] = []
        number = -1
        for element in iter_xml(content, _KIND, "row", "mergeCell"):
            if local_name(element) == "mergeCell":
                merged += _areas(element.get("ref", "")) if len(merged) < _MOST_MERGED else []
                continue
            written = element.get("r", "")
            number = int(written) - 1 if written.isdecimal() and len(written) <= 7 else number + 1  # noqa: PLR2004
            self.count.add(len(element))
            cells = dict(self._cells(element))
            if cells:
                rows.append(SheetRow(number, cells))
        return sorted(rows, key=lambda row: row.number), merged

    def _cells(self, row: lxml.etree._Element) -> Iterator[tuple[int, SheetCell]]:
        column = -1
        for element in row.iterchildren("{*}c"):
            reference = _REFERENCE.fullmatch(element.get("r", ""))
            column = _column_number(reference[1]) if reference else column + 1
            cell = self._cell(element)
            if cell.text.strip():
                yield column, cell

    def _cell(self, element: lxml.etree._Element) -> SheetCell:
        at = element.get("s", "")
        style = self.styles[int(at)] if at.isdecimal() and int(at) < len(self.styles) else _Style()
        stored = next(element.iterchildren("{*}v"), None)
        value = "" if stored is None else stored.text or ""
        match element.get("t", "n"):
            case "s":
                index = int(value) if value.isdecimal() else -1
                return SheetCell(self.strings[index] if 0 <= index < len(self.strings) else "", is_bold=style.is_bold)
            case "inlineStr":
                return SheetCell(_string_text(element.find("{*}is")), is_bold=style.is_bold)
            case "b":
                return SheetCell("TRUE" if value.strip() == "1" else "FALSE" if value else "", is_bold=style.is_bold)
            case "n":
                return SheetCell(self._number(value, style.code), is_number=True, is_bold=style.is_bold)
            case "d":
                with suppress(ValueError):
                    return SheetCell(show_moment(datetime.fromisoformat(value)), is_bold=style.is_bold)
        return SheetCell(value, is_bold=style.is_bold)

    def _number(self, value: str, code: str) -> str:
        try:
            number = float(value)
        except ValueError:
            return value
        if code and is_date_format(code):
            return show_date_number(number, self.epoch)
        return display(number, code)


def _relationship_attribute(element: lxml.etree._Element) -> str:
    return next((str(key) for key in element.keys() if key.endswith("}id")), "")  # noqa: SIM118 - not a dict


def _shared_strings(archive: zipfile.ZipFile, path: str) -> list[str]:
    if not path:
        return []
    return [_string_text(element) for element in iter_xml(read_entry(archive, path), _KIND, "si")]


def _string_text(element: lxml.etree._Element | None) -> str:
    """Return the text of a string, without phonetic hints."""
    if element is None:
        return ""
    runs = (child if local_name(child) == "t" else child.find("{*}t") for child in element.iterchildren("{*}t", "{*}r"))
    return "".join(run.text or "" for run in runs if run is not None)


def _styles(archive: zipfile.ZipFile, path: str) -> list[_Style]:
    if not path:
        return []
    styles = parse_xml(read_entry(archive, path), _KIND)
    codes: Mapping[str, str] = {str(number): code for number, code in BUILT_IN.items()} | {
        each.get("numFmtId", ""): each.get("formatCode", "") for each in styles.iterfind("{*}numFmts/{*}numFmt")
    }
    fonts = [_is_bold(font) for font in styles.iterfind("{*}fonts/{*}font")]
    return [
        _Style(codes.get(each.get("numFmtId", ""), ""), _is_bold_font(fonts, each.get("fontId", "")))
        for each in styles.iterfind("{*}cellXfs/{*}xf")
    ]


def _is_bold(font: lxml.etree._Element) -> bool:
    bold = font.find("{*}b")
    return bold is not None and bold.get("val", "1") not in {"0", "false"}


def _is_bold_font(fonts: Sequence[bool], at: str) -> bool:
    return at.isdecimal() and int(at) < len(fonts) and fonts[int(at)]


def _areas(reference: str) -> list[Area]:
    corners = [_REFERENCE.fullmatch(corner) for corner in reference.split(":")]
    match corners:
        case [re.Match() as first, re.Match() as last]:
            return [Area(int(first[2]) - 1, _column_number(first[1]), int(last[2]) - 1, _column_number(last[1]))]
    return []


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
