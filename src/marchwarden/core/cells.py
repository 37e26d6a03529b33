"""Split the lines of a table into cells, and tell numbers from words. Does not know documents."""

import csv
import re
from typing import Final

LONGEST_NUMBER: Final = 40

_SEPARATORS: Final = "\t;,"
_NUMBER: Final = re.compile(r"\W*(?!(?:1[5-9]|20)\d\d\W*$)\d[\d.,\s]*\W*")


def split_bars(line: str, *, is_bordered: bool) -> list[str]:
    return [_collapse_spaces(cell) for cell in (line.strip()[1:-1] if is_bordered else line).split("|")]


def bar_spans(line: str, start: int, *, is_bordered: bool) -> list[tuple[int, int]]:
    """Return the spans of the cells that `split_bars` returns, for a line without surrounding white space."""
    spans = []
    at = start + is_bordered
    for cell in (line[1:-1] if is_bordered else line).split("|"):
        first = at + len(cell) - len(cell.lstrip())
        spans.append((first, max(at + len(cell.rstrip()), first)))
        at += len(cell) + 1
    return spans


def is_bordered(line: str) -> bool:
    return line.startswith("|") and line.endswith("|") and len(line) > 1


def is_rule(line: str) -> bool:
    """Whether the line separates a header from the rows below it."""
    return "-" in line and not line.strip("|:=+- \t")


def split_values(line: str, separator: str) -> list[str]:
    try:
        return [_collapse_spaces(cell) for cell in next(csv.reader([line], delimiter=separator), [])] or [""]
    except csv.Error:
        return [line]


def find_separator(line: str) -> str:
    return max(_SEPARATORS, key=line.count)


def join_cells(line: str) -> str:
    """Return a line of separated values with bars between its cells, so that two numbers do not look like one."""
    return " | ".join(split_values(line, find_separator(line)))


def is_number(cell: str) -> bool:
    """Whether the cell is a number other than a year: years can be column names, other numbers cannot."""
    return len(cell) <= LONGEST_NUMBER and _NUMBER.fullmatch(cell) is not None


def cell_kind(cell: str) -> str:
    """Classify a cell: number, capitalised word, lower-case word or other."""
    first = cell[:1]
    return "figure" if is_number(cell) else "capital" if first.isupper() else "small" if first.islower() else "other"


def _collapse_spaces(cell: str) -> str:
    return " ".join(cell.split())
