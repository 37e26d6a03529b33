"""Find tables in a text and read their rows with column names. Knows nothing about questions."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, zip_longest
from operator import itemgetter
from typing import Final

from marchwarden.core.blocks import Block, BlockKind
from marchwarden.core.cells import (
    bar_spans,
    cell_kind,
    find_separator,
    is_bordered,
    is_number,
    is_rule,
    split_bars,
    split_values,
)
from marchwarden.core.passages import Layout
from marchwarden.core.plain_blocks import looks_like_a_row
from marchwarden.core.sentences import BREAK

LONGEST_LINE: Final = 1000
"""Longer lines are not treated as rows, unless blocks say that they are."""
MOST_HEADER_LINES: Final = 4
SAMPLED_ROWS: Final = 5
"""Number of rows that a header is compared with."""

_LINE: Final = re.compile(r"[^\n]*(?:\n|\Z)")
_ROWS: Final = frozenset({BlockKind.TABLE_HEADER, BlockKind.ROW})
_BETWEEN_ROWS: Final = frozenset({BlockKind.CAPTION, BlockKind.NOTE})
Span = tuple[int, int]


@dataclass(frozen=True)
class Cell:
    """A cell: the column name, the value with its span, and the offsets of the names of the column.

    In separated values, span and offsets are those of whole lines.
    """

    column: str
    value: str
    span: Span
    named_at: tuple[int, ...]


@dataclass(frozen=True)
class Row:
    """A row: its label, its other non-empty cells, and the name of the label's column, if it has one, with offsets."""

    label: str
    cells: tuple[Cell, ...]
    label_column: str = ""
    label_named_at: tuple[int, ...] = ()

    @property
    def introduces_label(self) -> bool:
        """Whether the text begins with the name of the label's column."""
        return self.label[:1].islower() and self.label_column[:1].isupper()

    @property
    def text(self) -> str:
        """The row as text: `Ferries, 2019: 44,100; 2018: 56,700`. A name from code is introduced: `Option: keep, …`."""
        cells = "; ".join(f"{cell.column}: {cell.value}" if cell.column else cell.value for cell in self.cells)
        label = f"{self.label_column}: {self.label}" if self.introduces_label else self.label
        return f"{label}, {cells}" if label else cells


class Tables:
    """The tables of a text that name their columns. Rows are parsed on demand.

    Blocks tell which lines are headers and rows. Without them, bars and separators do.
    """

    def __init__(self, text: str, layout: Layout, blocks: Sequence[Block] = ()) -> None:
        self._text = text
        self._single_table = _separated_values(text) if layout == "table" else None
        runs = _block_runs(text, blocks) if blocks else _bar_runs(text) if layout == "prose" and "|" in text else ()
        self._lines = [line for run in runs for line in _lines_of_tables(run)]
        self._starts = [line.start for line, _ in self._lines]
        self._column_notes = list(_find_column_notes(blocks))

    def __bool__(self) -> bool:
        return bool(self._lines) or self._single_table is not None

    def row(self, start: int, end: int) -> Row | None:
        """Return the row that this span fills or begins, or None if there is none."""
        line, table = self._line_at(start)
        if table is None or start != line.start or end > line.end or start in table.header:
            return None
        return None if BREAK.search(line.written) else table.row(line)

    def row_start(self, start: int) -> int | None:
        """Return the start of the line of a table that this offset is in."""
        line, table = self._line_at(start)
        return line.start if table else None

    def is_heading(self, start: int, end: int) -> bool:
        """Whether the span only names columns or the rows below it."""
        line, table = self._line_at(start)
        if table is None or end > line.end:
            return False
        return line.start in table.header or (start == line.start and not any(table.cells(line.written)[1:]))

    def is_column_note(self, start: int) -> bool:
        """Whether it is in a note between a header and its first row: such a note explains a column."""
        at = bisect_right(self._column_notes, start, key=itemgetter(0)) - 1
        return at >= 0 and start < self._column_notes[at][1]

    def _line_at(self, start: int) -> "tuple[_Line, _Table | None]":
        """Return the line that contains an offset, and its table."""
        if self._single_table:
            line = self._written_line(start)
            return line, self._single_table if len(line.written) <= LONGEST_LINE else None
        at = bisect_right(self._starts, start) - 1
        if at >= 0 and start < self._lines[at][0].end:
            return self._lines[at]
        return _Line(start, ""), None

    def _written_line(self, start: int) -> "_Line":
        """Look at most `LONGEST_LINE` characters around the offset."""
        before = self._text[max(start - LONGEST_LINE, 0) : start].rpartition("\n")[2]
        after = self._text[start : start + LONGEST_LINE + 1].partition("\n")[0]
        return _Line(start - len(before.lstrip()), f"{before}{after}")


@dataclass(frozen=True)
class _Line:
    """A line, and the offset of its first non-blank character."""

    start: int
    written: str

    @property
    def end(self) -> int:
        return self.start + len(self.written.strip())


@dataclass(frozen=True)
class _Run:
    """Consecutive lines with bars. `above` is the number of header lines, if blocks tell them."""

    lines: Sequence[_Line]
    above: int | None = None


@dataclass(frozen=True)
class _Column:
    """A column name, and the offsets of its parts."""

    name: str
    named_at: tuple[int, ...]


@dataclass(frozen=True)
class _Table:
    """How to split lines into cells, where these are, the columns, and the offsets of the header lines."""

    cells: Callable[[str], list[str]]
    spans: Callable[[str, int], list[Span]]
    columns: Sequence[_Column]
    header: frozenset[int]

    def row(self, line: _Line) -> Row | None:
        """Parse a row. Return None if it has more cells than columns or only a label."""
        label, *others = self.cells(line.written)
        if len(others) >= len(self.columns):
            return None
        places = self.spans(line.written.strip(), line.start)[1:]
        columns = zip(self.columns[1:], others, places, strict=False)
        cells = tuple(Cell(column.name, value, span, column.named_at) for column, value, span in columns if value)
        return Row(label, cells, self.columns[0].name, self.columns[0].named_at) if cells else None


def _separated_values(text: str) -> _Table | None:
    """Parse separated values. The first line is the header if it differs in kind from the lines below."""
    lines = list(islice((line for line in _lines(text) if line.written.strip()), SAMPLED_ROWS + 1))
    if not lines or any(len(line.written) > LONGEST_LINE for line in lines):
        return None
    separator = find_separator(lines[0].written)
    cells = partial(split_values, separator=separator)
    return _table(lines[:1], cells, _whole_lines) if _differs_from_body(lines[:1], lines[1:], cells) else None


def _whole_lines(line: str, start: int) -> list[Span]:
    return [(start, start + len(line))] * (len(line) + 1)


def _lines_of_tables(run: _Run) -> Iterator[tuple[_Line, _Table]]:
    """Yield the lines of a run with their table, if it names its columns."""
    rules = [] if run.above else [at for at, line in enumerate(run.lines) if is_rule(line.written)]
    rows = [line for at, line in enumerate(run.lines) if at not in rules]
    bordered = all(is_bordered(line.written.strip()) for line in rows)
    cells = partial(split_bars, is_bordered=bordered)
    above = run.above or (rules[0] if rules and rules[0] else _count_header_lines(rows, cells))
    header, body = rows[:above], rows[above : above + SAMPLED_ROWS]
    if run.above or rules or _differs_from_body(header, body, cells):
        table = _table(header, cells, partial(bar_spans, is_bordered=bordered), is_known=bool(run.above))
        if table:
            yield from ((line, table) for line in rows)


def _count_header_lines(rows: Sequence[_Line], cells: Callable[[str], list[str]]) -> int:
    """Count header lines without a rule: the lines above the first row with numbers, and at least one."""
    for at, line in enumerate(rows[: MOST_HEADER_LINES + 1]):
        label, *others = cells(line.written)
        if label and any(map(is_number, others)):
            return max(at, 1)
    return 1


def _differs_from_body(header: Sequence[_Line], body: Sequence[_Line], cells: Callable[[str], list[str]]) -> bool:
    """Whether the header has an empty first cell, or differs in kind from all cells below it in some column."""
    names = cells(header[-1].written)
    columns = zip_longest(*(cells(line.written) for line in body), fillvalue="")
    below = [{cell_kind(value) for value in column if value} for column in columns]
    return not names[0] or any(
        kinds and cell_kind(name) not in kinds for name, kinds in zip(names, below, strict=False)
    )


def _table(
    header: Sequence[_Line],
    cells: Callable[[str], list[str]],
    spans: Callable[[str, int], list[Span]],
    *,
    is_known: bool = False,
) -> _Table | None:
    """Build the table. Return None if it names no column, or if a guessed header is too long or contains numbers."""
    lines = [cells(line.written) for line in header]
    names = [name for _, *others in lines for name in others]
    is_odd = any(len(line.written) > LONGEST_LINE for line in header) or any(map(is_number, names))
    if not any(names) or (is_odd and not is_known):
        return None
    places = [[start for start, _ in spans(line.written.strip(), line.start)] for line in header]
    columns = [
        _column([name for name, _ in column if name], [at for name, at in column if name])
        for column in _by_column(lines, places)
    ]
    return _Table(cells, spans, columns, frozenset(line.start for line in header))


def _column(names: Sequence[str], places: Sequence[int]) -> _Column:
    return _Column(" ".join(dict.fromkeys(names)), tuple(dict.fromkeys(places)))


def _by_column(lines: Sequence[Sequence[str]], places: Sequence[Sequence[int]]) -> Iterator[list[tuple[str, int]]]:
    """Yield the header cells of each column with their offsets."""
    for at in range(max(map(len, lines))):
        yield [(names[at], starts[at]) for names, starts in zip(lines, places, strict=True) if at < len(names)]


def _block_runs(text: str, blocks: Sequence[Block]) -> Iterator[_Run]:
    """Yield the rows below each header. Blocks other than captions and notes end a table."""
    lines: list[_Line] = []
    above = 0
    for block in blocks:
        is_header = block.kind is BlockKind.TABLE_HEADER
        if lines and (block.kind not in _ROWS | _BETWEEN_ROWS or (is_header and len(lines) > above)):
            yield from [_Run(tuple(lines), above or None)] if len(lines) > 1 else ()
            lines, above = [], 0
        if block.kind in _ROWS:
            lines.append(_Line(block.start, text[block.start : block.end]))
            above += is_header
    if len(lines) > 1:
        yield _Run(tuple(lines), above or None)


def _find_column_notes(blocks: Sequence[Block]) -> Iterator[Span]:
    below_header = False
    for block in blocks:
        is_note = below_header and block.kind is BlockKind.NOTE
        if is_note:
            yield block.start, block.end
        below_header = is_note or block.kind is BlockKind.TABLE_HEADER


def _bar_runs(text: str) -> Iterator[_Run]:
    """Yield groups of at least two consecutive lines with bars."""
    run: list[_Line] = []
    for line in _lines(text):
        if len(line.written) <= LONGEST_LINE and looks_like_a_row(line.written):
            run.append(line)
            continue
        if len(run) > 1:
            yield _Run(tuple(run))
        run = []


def _lines(text: str) -> Iterator[_Line]:
    """Yield all lines. The last one is empty."""
    for match in _LINE.finditer(text):
        written = match[0].removesuffix("\n")
        yield _Line(match.start() + len(written) - len(written.lstrip()), written)
