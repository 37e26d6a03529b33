"""Find tables in a text and read their rows with column names. Knows nothing about questions."""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress, islice, zip_longest
from typing import Final

from marchwarden.core.passages import Layout
from marchwarden.core.plain_blocks import looks_like_a_row

LONGEST_LINE: Final = 1000
"""Longer lines are not treated as rows."""
MOST_HEADER_LINES: Final = 4
SAMPLED_ROWS: Final = 5
"""Number of rows that a header is compared with."""
LONGEST_NUMBER: Final = 40

_SEPARATORS: Final = "\t;,"
_LINE: Final = re.compile(r"[^\n]*(?:\n|\Z)")
_NUMBER: Final = re.compile(r"\W*(?!(?:1[5-9]|20)\d\d\W*$)\d[\d.,\s]*\W*")


@dataclass(frozen=True)
class Cell:
    """A cell: the column name, the value, and the offsets of the lines that name the column."""

    column: str
    value: str
    named_at: tuple[int, ...]


@dataclass(frozen=True)
class Row:
    """A row: its label and its other non-empty cells."""

    label: str
    cells: tuple[Cell, ...]

    @property
    def text(self) -> str:
        """The row as text: `Ferries, 2019: 44,100; 2018: 56,700`."""
        cells = "; ".join(f"{cell.column}: {cell.value}" if cell.column else cell.value for cell in self.cells)
        return f"{self.label}, {cells}" if self.label else cells


class Tables:
    """The tables of a text that name their columns. Rows are parsed on demand."""

    def __init__(self, text: str, layout: Layout) -> None:
        self._text = text
        self._single_table = _separated_values(text) if layout == "table" else None
        self._bar_tables = dict(_rows_with_bars(text)) if layout == "prose" and "|" in text else {}

    @property
    def headers(self) -> frozenset[int]:
        """Offsets of the lines that name columns."""
        tables = [*self._bar_tables.values(), *([self._single_table] if self._single_table else [])]
        return frozenset[int]().union(*(table.header for table in tables))

    def row(self, start: int, end: int) -> Row | None:
        """Return the row at this span, or None if the span is not a complete row of a table."""
        table, line = self._table_at(start), self._line(start, end)
        return table.row(line) if table and line and start not in table.header else None

    def is_heading(self, start: int, end: int) -> bool:
        """Whether the span only names columns or the rows below it."""
        table, line = self._table_at(start), self._line(start, end)
        return bool(table and (start in table.header or (line and not any(table.cells(line)[1:]))))

    def is_line(self, start: int, end: int) -> bool:
        """Whether the span is a complete line."""
        return self._line(start, end) is not None

    def _table_at(self, start: int) -> "_Table | None":
        return self._bar_tables.get(start, self._single_table)

    def _line(self, start: int, end: int) -> str | None:
        """Return the line if the span fills it. Looks at most `LONGEST_LINE` characters around the span."""
        before = self._text[max(start - LONGEST_LINE, 0) : start].rpartition("\n")[2]
        after = self._text[end : end + LONGEST_LINE].partition("\n")[0]
        return None if (before + after).strip() else f"{before}{self._text[start:end]}{after}"


def join_cells(line: str) -> str:
    """Return a line of separated values with bars between its cells, so that two numbers do not look like one."""
    return " | ".join(_split_values(line, _separator(line)))


@dataclass(frozen=True)
class _Line:
    """A line, and the offset of its first non-blank character."""

    start: int
    written: str


@dataclass(frozen=True)
class _Column:
    """A column name, and the offsets of the lines that name it."""

    name: str
    named_at: tuple[int, ...]


@dataclass(frozen=True)
class _Table:
    """How to split lines into cells, the columns, and the offsets of the header lines."""

    cells: Callable[[str], list[str]]
    columns: Sequence[_Column]
    header: frozenset[int]

    def row(self, line: str) -> Row | None:
        """Parse a row. Return None if it has more cells than columns or only a label."""
        label, *others = self.cells(line)
        if len(others) >= len(self.columns):
            return None
        columns = zip(self.columns[1:], others, strict=False)
        cells = tuple(Cell(column.name, value, column.named_at) for column, value in columns if value)
        return Row(label, cells) if cells else None


def _separated_values(text: str) -> _Table | None:
    """Parse separated values. The first line is the header if it differs in kind from the lines below."""
    lines = list(islice((line for line in _lines(text) if line.written.strip()), SAMPLED_ROWS + 1))
    if not lines or any(len(line.written) > LONGEST_LINE for line in lines):
        return None
    cells = partial(_split_values, separator=_separator(lines[0].written))
    return _table(lines[:1], cells) if _differs_from_body(lines[:1], lines[1:], cells) else None


def _rows_with_bars(text: str) -> Iterator[tuple[int, _Table]]:
    for run in _bar_blocks(text):
        rules = [at for at, line in enumerate(run) if _is_rule(line.written)]
        rows = [line for at, line in enumerate(run) if at not in rules]
        cells = partial(_split_bars, is_bordered=all(map(_is_bordered, rows)))
        above = rules[0] if rules and rules[0] else _count_header_lines(rows, cells)
        header, body = rows[:above], rows[above : above + SAMPLED_ROWS]
        table = _table(header, cells) if rules or _differs_from_body(header, body, cells) else None
        if table:
            yield from ((line.start, table) for line in rows)


def _count_header_lines(rows: Sequence[_Line], cells: Callable[[str], list[str]]) -> int:
    """Count header lines without a rule: the lines above the first row with numbers, and at least one."""
    for at, line in enumerate(rows[: MOST_HEADER_LINES + 1]):
        label, *others = cells(line.written)
        if label and any(map(_is_number, others)):
            return max(at, 1)
    return 1


def _differs_from_body(header: Sequence[_Line], body: Sequence[_Line], cells: Callable[[str], list[str]]) -> bool:
    """Whether the header has an empty first cell, or differs in kind from all cells below it in some column."""
    names = cells(header[-1].written)
    columns = zip_longest(*(cells(line.written) for line in body), fillvalue="")
    below = [{_kind(value) for value in column if value} for column in columns]
    return not names[0] or any(kinds and _kind(name) not in kinds for name, kinds in zip(names, below, strict=False))


def _kind(cell: str) -> str:
    """Classify a cell: number, capitalised word, lower-case word or other."""
    first = cell[:1]
    return "figure" if _is_number(cell) else "capital" if first.isupper() else "small" if first.islower() else "other"


def _table(header: Sequence[_Line], cells: Callable[[str], list[str]]) -> _Table | None:
    """Build the table. Return None if the header is too long, names no column or contains numbers."""
    if any(len(line.written) > LONGEST_LINE for line in header):
        return None
    lines = [cells(line.written) for line in header]
    names = [name for _, *others in lines for name in others]
    if not any(names) or any(map(_is_number, names)):
        return None
    starts = [line.start for line in header]
    columns = [
        _Column(" ".join(dict.fromkeys(filter(None, names))), tuple(compress(starts, names)))
        for names in zip_longest(*lines, fillvalue="")
    ]
    return _Table(cells, columns, frozenset(starts))


def _bar_blocks(text: str) -> Iterator[list[_Line]]:
    """Yield groups of at least two consecutive lines with bars."""
    run: list[_Line] = []
    for line in _lines(text):
        if len(line.written) <= LONGEST_LINE and looks_like_a_row(line.written):
            run.append(line)
            continue
        if len(run) > 1:
            yield run
        run = []


def _lines(text: str) -> Iterator[_Line]:
    """Yield all lines. The last one is empty."""
    for match in _LINE.finditer(text):
        written = match[0].removesuffix("\n")
        yield _Line(match.start() + len(written) - len(written.lstrip()), written)


def _split_bars(line: str, *, is_bordered: bool) -> list[str]:
    return [_collapse_spaces(cell) for cell in (line.strip()[1:-1] if is_bordered else line).split("|")]


def _split_values(line: str, separator: str) -> list[str]:
    try:
        return [_collapse_spaces(cell) for cell in next(csv.reader([line], delimiter=separator), [])] or [""]
    except csv.Error:
        return [line]


def _separator(line: str) -> str:
    return max(_SEPARATORS, key=line.count)


def _is_bordered(line: _Line) -> bool:
    written = line.written.strip()
    return written.startswith("|") and written.endswith("|")


def _is_rule(line: str) -> bool:
    return "-" in line and not line.strip("|:=+- \t")


def _is_number(cell: str) -> bool:
    """Whether the cell is a number other than a year: years can be column names, other numbers cannot."""
    return len(cell) <= LONGEST_NUMBER and _NUMBER.fullmatch(cell) is not None


def _collapse_spaces(cell: str) -> str:
    return " ".join(cell.split())
