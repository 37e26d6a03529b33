"""Write the sheets of a workbook as tables: find tables, titles and headers. Does not know file formats.

Each sheet is a section with its name as heading; the heading of a hidden sheet says that it is hidden. Empty rows
separate tables, and so do empty columns between parts of at least two columns. Lines with one cell above a table are
its captions and those below it are notes. Each row is marked with its first cell: `Sheet1!A7`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from marchwarden.core.cells import cell_kind, is_number
from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.document import Unreadable
from marchwarden.extraction.limits import MAX_LINES

MAX_SHEETS: Final = 1_000
MAX_CELLS: Final = 2_000_000
MOST_HEADER_ROWS: Final = 4
MOST_COLUMNS: Final = 1_000
_COMPARED_ROWS: Final = 8
_NARROWEST_PART: Final = 2
_MOST_PARTS: Final = 20
_ALWAYS_NAMED: Final = 3
"""Number of columns from which a first row of words is a header even if all cells below are words."""
_LONGEST_NAME: Final = 200
_SENTENCE_WORDS: Final = 5
_FEWEST_COLUMNS: Final = 2


class SheetCell(NamedTuple):
    """A cell as displayed. A tuple, because a workbook may have a million."""

    text: str
    is_number: bool = False
    is_bold: bool = False


class SheetRow(NamedTuple):
    """The non-empty cells of a row by column. Rows and columns are counted from 0."""

    number: int
    cells: Mapping[int, SheetCell]


@dataclass(frozen=True)
class Area:
    """Merged cells: the first and last row and column."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(frozen=True)
class Sheet:
    name: str
    rows: Sequence[SheetRow]
    is_hidden: bool = False
    merged: Sequence[Area] = field(default=())


class CellCount:
    """Counts the cells and rows of a workbook and refuses too many."""

    def __init__(self) -> None:
        self._cells = 0
        self._rows = 0

    def add(self, cells: int, rows: int = 1) -> None:
        self._cells += cells
        self._rows += rows if cells else 0
        if self._cells > MAX_CELLS:
            raise Unreadable(f"a workbook with more than {MAX_CELLS:,} cells")
        if self._rows > MAX_LINES:
            raise Unreadable(f"a workbook with more than {MAX_LINES:,} rows")


def check_sheet_count(count: int) -> None:
    if count > MAX_SHEETS:
        raise Unreadable(f"a workbook with {count:,} sheets; at most {MAX_SHEETS:,} are read")


def write_sheet(builder: DocumentBuilder, sheet: Sheet) -> None:
    """Add a sheet that has any text."""
    if not sheet.rows:
        return
    rows = _with_merged_cells(sheet)
    builder.mark(_cell_name(sheet.name, rows[0]))
    builder.heading(f"{sheet.name} (hidden sheet)" if sheet.is_hidden else sheet.name, 1)
    for group in _groups(rows):
        for part in _side_by_side(group):
            _write_part(builder, sheet.name, part)


def column_name(column: int) -> str:
    """Return the letters of a column: `A` for 0, `AA` for 26."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _cell_name(sheet: str, row: SheetRow) -> str:
    """Return the name of the first cell of a row, with quotation marks as spreadsheets write them: `'My sheet'!A7`."""
    name = " ".join(sheet.split()).replace("%", "%25").replace("#", "%23")
    quoted = name if name.replace("_", "").isalnum() else "'" + name.replace("'", "''") + "'"
    return f"{quoted}!{column_name(min(row.cells))}{row.number + 1}"


def _with_merged_cells(sheet: Sheet) -> Sequence[SheetRow]:
    """Repeat a label that is merged over several rows in each of them."""
    by_number = {row.number: dict(row.cells) for row in sheet.rows}
    room = MAX_LINES
    for area in sheet.merged:
        room -= min(area.bottom - area.top, len(by_number))
        if room < 0:
            break
        label = by_number.get(area.top, {}).get(area.left)
        if label and area.left == area.right:
            for number in range(area.top + 1, min(area.bottom, area.top + len(by_number)) + 1):
                if number in by_number:
                    by_number[number].setdefault(area.left, label)
        elif label and area.top == area.bottom and not _is_only_cell(by_number[area.top], area):
            for column in range(area.left + 1, min(area.right, area.left + MOST_COLUMNS) + 1):
                by_number[area.top].setdefault(column, label)
    return [SheetRow(number, cells) for number, cells in sorted(by_number.items())]


def _is_only_cell(cells: Mapping[int, SheetCell], area: Area) -> bool:
    """Whether the merged cell is alone in its row: a title, not the name of several columns."""
    return all(area.left <= column <= area.right for column in cells)


def _groups(rows: Sequence[SheetRow]) -> Iterator[Sequence[SheetRow]]:
    """Yield the rows between empty ones."""
    first = 0
    for at, (row, following) in enumerate(pairwise(rows), 1):
        if following.number > row.number + 1:
            yield rows[first:at]
            first = at
    yield rows[first:]


def _side_by_side(rows: Sequence[SheetRow]) -> Iterator[Sequence[SheetRow]]:
    """Yield the parts of a group that empty columns separate, if all are wide enough to be tables."""
    columns = sorted({column for row in rows for column in row.cells})
    cuts = [after for before, after in pairwise(columns) if after > before + 1]
    parts = [[column for column in columns if low <= column < high] for low, high in pairwise([0, *cuts, 1 << 30])]
    if not 1 < len(parts) <= _MOST_PARTS or any(len(part) < _NARROWEST_PART for part in parts):
        yield rows
        return
    for part in parts:
        inside = (
            SheetRow(row.number, {at: cell for at, cell in row.cells.items() if part[0] <= at <= part[-1]})
            for row in rows
        )
        yield [row for row in inside if row.cells]


def _write_part(builder: DocumentBuilder, name: str, rows: Sequence[SheetRow]) -> None:
    """Add captions, a table and notes. Rows of one cell each are paragraphs."""
    wide = [at for at, row in enumerate(rows) if len(row.cells) >= _FEWEST_COLUMNS]
    first, last = (wide[0], wide[-1]) if wide else (len(rows), len(rows))
    if 0 < first < len(rows) and _names_second_column(rows[first - 1], rows[first : last + 1]):
        first -= 1
    for row in rows[:first]:
        builder.mark(_cell_name(name, row))
        add = builder.caption if wide else builder.paragraph
        add(_only_text(row))
    _write_table(builder, name, rows[first : last + 1])
    for row in rows[last + 1 :]:
        builder.mark(_cell_name(name, row))
        builder.note(_only_text(row))


def _names_second_column(row: SheetRow, table: Sequence[SheetRow]) -> bool:
    """Whether the only cell above a table of two columns is above the second one."""
    columns = {column for each in table for column in each.cells}
    return len(columns) == _FEWEST_COLUMNS and [*row.cells] == [max(columns)]


def _only_text(row: SheetRow) -> str:
    return next(iter(row.cells.values())).text


def _write_table(builder: DocumentBuilder, name: str, rows: Sequence[SheetRow]) -> None:
    columns = sorted({column for row in rows for column in row.cells})
    if len(columns) > MOST_COLUMNS:
        raise Unreadable(f"a table with more than {MOST_COLUMNS:,} columns")
    above = count_header_rows(rows, columns)
    for at, row in enumerate(rows):
        builder.mark(_cell_name(name, row))
        if at == above > 0 and _explains_columns(row, rows[at + 1 :][:_COMPARED_ROWS], columns):
            _write_explanations(builder, rows[at - 1], row)
            continue
        builder.row([row.cells[column].text if column in row.cells else "" for column in columns], header=at < above)


def _explains_columns(row: SheetRow, body: Sequence[SheetRow], columns: Sequence[int]) -> bool:
    """Whether the row below the header has a sentence for each column, and most columns have none below it."""
    short = (not any(_is_sentence(each.cells.get(column)) for each in body) for column in columns)
    return all(_is_sentence(row.cells.get(column)) for column in columns) and 2 * sum(short) > len(columns) * bool(body)


def _is_sentence(cell: SheetCell | None) -> bool:
    return cell is not None and not cell.is_number and len(cell.text.split()) >= _SENTENCE_WORDS


def _write_explanations(builder: DocumentBuilder, header: SheetRow, row: SheetRow) -> None:
    for column, cell in sorted(row.cells.items()):
        name = header.cells[column].text if column in header.cells else ""
        builder.note(f"{name}: {cell.text}" if name else cell.text)


def count_header_rows(rows: Sequence[SheetRow], columns: Sequence[int]) -> int:
    """Count the rows that name columns. A header with gaps continues in the next row if that has no numbers either."""
    if len(rows) < _FEWEST_COLUMNS or not _can_name_columns(rows[0]) or not _is_header(rows):
        return 0
    above = 1
    while (
        above < min(MOST_HEADER_ROWS, len(rows) - 1)
        and len(columns) > len(_named_columns(rows[:above])) + (columns[0] not in rows[0].cells)
        and _can_name_columns(rows[above])
        and not _names_twice(rows[:above], rows[above], columns[0])
    ):
        above += 1
    return above


def _names_twice(above: Sequence[SheetRow], row: SheetRow, column: int) -> bool:
    """Whether it has another word in the first column, below its name: then it is a record."""
    names = {each.cells[column].text for each in above if column in each.cells}
    return bool(names) and column in row.cells and row.cells[column].text not in names


def _named_columns(rows: Sequence[SheetRow]) -> set[int]:
    return {column for row in rows for column in row.cells}


def _can_name_columns(row: SheetRow) -> bool:
    """Whether it has no number other than years, and no long text."""
    return all(
        len(cell.text) <= _LONGEST_NAME and not (is_number(cell.text) and (cell.is_number or at > min(row.cells)))
        for at, cell in row.cells.items()
    )


def _is_header(rows: Sequence[SheetRow]) -> bool:
    """Whether the first row looks different: bold, without a first cell, or other kinds of cells than below it."""
    first, body = (
        rows[0],
        [row for row in rows[1 : 1 + _COMPARED_ROWS] if not all(map(_is_sentence, row.cells.values()))],
    )
    left = min(column for row in rows for column in row.cells)
    if left not in first.cells or (_is_bold(first) and not any(map(_is_bold, body))):
        return True
    if len(first.cells) >= _ALWAYS_NAMED:
        return True
    return any(
        kinds and cell_kind(cell.text) not in kinds
        for column, cell in first.cells.items()
        if (kinds := {cell_kind(row.cells[column].text) for row in body if column in row.cells})
    )


def _is_bold(row: SheetRow) -> bool:
    return all(cell.is_bold for cell in row.cells.values())
