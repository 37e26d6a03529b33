"""Find the rows of simple tables in a PDF: lines with wide gaps whose parts line up with those of the next line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from marchwarden.core.blocks import BlockKind
from marchwarden.extraction.pdf_groups import Group, is_label
from marchwarden.extraction.pdf_lines import Cell, Line

_ALIGNED: Final = 0.6
_FARTHEST: Final = 3.5
"""Between rows, in font sizes."""
_TIGHT: Final = 1.45
"""Between the lines of a cell, in font sizes."""
_SEVERAL: Final = 2


@dataclass
class _Row:
    lines: list[Line]
    columns: list[str] = field(default_factory=list)


def find_rows(lines: Sequence[Line]) -> dict[int, Group | None]:
    """Return the table rows by the index of their first line, and nothing for the index of each further line."""
    found: dict[int, Group | None] = {}
    for start, end in _tables(lines):
        table = lines[start:end]
        widest = max((line.cells for line in table), key=len)
        rows = dict(_rows(table, widest))
        has_header = _has_header(list(rows.values()))
        for at in range(len(table)):
            row = rows.get(at)
            if row is None:
                found[start + at] = None
                continue
            kind = BlockKind.TABLE_HEADER if has_header and at == 0 else BlockKind.ROW
            found[start + at] = Group(row.lines, kind, cells=tuple(row.columns))
    return found


def _tables(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Yield the spans of at least two lines that line up with each other, and the single cells below them."""
    start: int | None = None
    for at, (above, below) in enumerate(pairwise(lines)):
        if _line_up(above, below):
            start = at if start is None else start
        elif start is not None and not _is_rest_of_cell(lines[start : at + 1], below):
            yield start, at + 1
            start = None
    if start is not None:
        yield start, len(lines)


def _line_up(above: Line, below: Line) -> bool:
    if above.page != below.page or not 0 < above.base - below.base < _FARTHEST * below.size:
        return False
    if any(len(line.cells) < _SEVERAL or is_label(line.cells[0].text) for line in (above, below)):
        return False
    near = _ALIGNED * below.size
    return any(_aligned(one, other, near) for one in above.cells[1:] for other in below.cells[1:])


def _is_rest_of_cell(table: Sequence[Line], below: Line) -> bool:
    """Whether a line goes on with a cell of the row above, but not of the first column."""
    above = table[-1]
    tight = above.page == below.page and 0 < above.base - below.base < _TIGHT * below.size
    if below.cells:
        return tight and any(_line_up(row, below) for row in table[-2:])
    starts = [cell.left for line in table[-2:] for cell in line.cells[1:]]
    return tight and any(abs(below.left - left) < _ALIGNED * below.size for left in starts)


def _aligned(one: Cell, other: Cell, near: float) -> bool:
    middles = (one.left + one.right) / 2 - (other.left + other.right) / 2
    return min(abs(one.left - other.left), abs(one.right - other.right), abs(middles)) < near


def _rows(table: Sequence[Line], widest: Sequence[Cell]) -> Iterator[tuple[int, _Row]]:
    """Yield the rows and the places of their first lines. A tight line with a few cells but not the first goes on."""
    row: _Row | None = None
    at = 0
    for place, line in enumerate(table):
        columns = _in_columns(line.cells or (Cell(line.left, line.right, line.text),), widest)
        filled = sum(bool(column) for column in columns)
        if row and not columns[0] and (filled < len(columns) - 1 or filled == 1) and _is_tight(row.lines[-1], line):
            row.lines.append(line)
            row.columns = [f"{above} {below}".strip() for above, below in zip(row.columns, columns, strict=True)]
            continue
        if row:
            yield at, row
        row, at = _Row([line], columns), place
    if row:
        yield at, row


def _is_tight(above: Line, below: Line) -> bool:
    return above.base - below.base < _TIGHT * below.size


def _in_columns(cells: Sequence[Cell], widest: Sequence[Cell]) -> list[str]:
    """Assign the cells of a row to the columns of the row that has most."""
    if len(cells) == len(widest):
        return [cell.text for cell in cells]
    columns = [""] * len(widest)
    for cell in cells:
        at = min(range(len(widest)), key=lambda column: _distance(cell, widest[column]))
        columns[at] = f"{columns[at]} {cell.text}".strip()
    return columns


def _distance(cell: Cell, column: Cell) -> float:
    return min(abs(cell.left - column.left), abs(cell.right - column.right))


def _has_header(rows: Sequence[_Row]) -> bool:
    """Whether the first row is bold as no other is, or the only one without figures."""
    if len(rows) < _SEVERAL:
        return False
    if rows[0].lines[0].bold and not rows[1].lines[0].bold:
        return True
    figures = [any(char.isdigit() for cell in row.columns[1:] for char in cell) for row in rows]
    return not figures[0] and all(figures[1:])
