"""Tables in a text, their rows read with the names of the columns. Knows nothing of questions."""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress, islice, zip_longest
from typing import Final

from marchwarden.core.passages import Layout, looks_like_a_row

LONGEST_LINE: Final = 1000
"""What is longer is no row that could be told."""
MOST_HEADER_LINES: Final = 4
SAMPLED_ROWS: Final = 5
"""Rows that a header is held against."""
LONGEST_NUMBER: Final = 40

_SEPARATORS: Final = "\t;,"
_LINE: Final = re.compile(r"[^\n]*(?:\n|\Z)")
_NUMBER: Final = re.compile(r"\W*(?!(?:1[5-9]|20)\d\d\W*$)\d[\d.,\s]*\W*")


@dataclass(frozen=True)
class Cell:
    """What stands in one column of a row, what that column is called, and where the lines begin that say so."""

    column: str
    value: str
    named_at: tuple[int, ...]


@dataclass(frozen=True)
class Row:
    """What a row is about, and its other cells, the empty ones left out."""

    label: str
    cells: tuple[Cell, ...]

    @property
    def text(self) -> str:
        """As one would say it: `Ferries, 2019: 44,100; 2018: 56,700`."""
        cells = "; ".join(f"{cell.column}: {cell.value}" if cell.column else cell.value for cell in self.cells)
        return f"{self.label}, {cells}" if self.label else cells


class Tables:
    """The tables of one text that name their columns. A row is read when it is asked for."""

    def __init__(self, text: str, layout: Layout) -> None:
        self._text = text
        self._single_table = _separated_values(text) if layout == "table" else None
        self._bar_tables = dict(_rows_with_bars(text)) if layout == "prose" and "|" in text else {}

    @property
    def headers(self) -> frozenset[int]:
        """Where the lines begin that name columns."""
        tables = [*self._bar_tables.values(), *([self._single_table] if self._single_table else [])]
        return frozenset[int]().union(*(table.header for table in tables))

    def row(self, start: int, end: int) -> Row | None:
        """The row that is these characters; none where they are no whole row of a table."""
        table, line = self._table_at(start), self._line(start, end)
        return table.row(line) if table and line and start not in table.header else None

    def is_heading(self, start: int, end: int) -> bool:
        """Whether these characters only say what columns, or the rows below, are called."""
        table, line = self._table_at(start), self._line(start, end)
        return bool(table and (start in table.header or (line and not any(table.cells(line)[1:]))))

    def is_line(self, start: int, end: int) -> bool:
        """Whether these characters are all that stands in their line."""
        return self._line(start, end) is not None

    def _table_at(self, start: int) -> "_Table | None":
        return self._bar_tables.get(start, self._single_table)

    def _line(self, start: int, end: int) -> str | None:
        """The line that these characters fill. Looks no farther around them than their line might reach."""
        before = self._text[max(start - LONGEST_LINE, 0) : start].rpartition("\n")[2]
        after = self._text[end : end + LONGEST_LINE].partition("\n")[0]
        return None if (before + after).strip() else f"{before}{self._text[start:end]}{after}"


def join_cells(line: str) -> str:
    """A line of separated values with bars between its cells, so that no two numbers look like one."""
    return " | ".join(_split_values(line, _separator(line)))


@dataclass(frozen=True)
class _Line:
    """A line as it is written, and where the first thing in it stands."""

    start: int
    written: str


@dataclass(frozen=True)
class _Column:
    """What a column is called, and where the lines begin that say so."""

    name: str
    named_at: tuple[int, ...]


@dataclass(frozen=True)
class _Table:
    """How its lines are cut into cells, what its columns are called, and where its header lines begin."""

    cells: Callable[[str], list[str]]
    columns: Sequence[_Column]
    header: frozenset[int]

    def row(self, line: str) -> Row | None:
        """None for a line with more cells than columns, and for one with nothing but a label."""
        label, *others = self.cells(line)
        if len(others) >= len(self.columns):
            return None
        columns = zip(self.columns[1:], others, strict=False)
        cells = tuple(Cell(column.name, value, column.named_at) for column, value in columns if value)
        return Row(label, cells) if cells else None


def _separated_values(text: str) -> _Table | None:
    """The first line names the columns, if it is of another kind than those below."""
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
    """Where no rule parts them from the rest: those above the first row of figures, or the first."""
    for at, line in enumerate(rows[: MOST_HEADER_LINES + 1]):
        label, *others = cells(line.written)
        if label and any(map(_is_number, others)):
            return max(at, 1)
    return 1


def _differs_from_body(header: Sequence[_Line], body: Sequence[_Line], cells: Callable[[str], list[str]]) -> bool:
    """Whether it says nothing in front, or is written otherwise than all that stands below it in some column."""
    names = cells(header[-1].written)
    columns = zip_longest(*(cells(line.written) for line in body), fillvalue="")
    below = [{_kind(value) for value in column if value} for column in columns]
    return not names[0] or any(kinds and _kind(name) not in kinds for name, kinds in zip(names, below, strict=False))


def _kind(cell: str) -> str:
    """A figure, a word with a capital, one without, or anything else."""
    first = cell[:1]
    return "figure" if _is_number(cell) else "capital" if first.isupper() else "small" if first.islower() else "other"


def _table(header: Sequence[_Line], cells: Callable[[str], list[str]]) -> _Table | None:
    """None where the header is none: it is too long, names no column, or holds figures like any row."""
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
    """Lines with bars that stand together, two at least."""
    run: list[_Line] = []
    for line in _lines(text):
        if len(line.written) <= LONGEST_LINE and looks_like_a_row(line.written):
            run.append(line)
            continue
        if len(run) > 1:
            yield run
        run = []


def _lines(text: str) -> Iterator[_Line]:
    """The last one is empty."""
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
    """Whether it is a number, and no year: no column is called so."""
    return len(cell) <= LONGEST_NUMBER and _NUMBER.fullmatch(cell) is not None


def _collapse_spaces(cell: str) -> str:
    return " ".join(cell.split())
