"""Read the rows of an HTML table. Tables that only arrange a page are not read as tables."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import lxml.html

LONGEST_CELL: Final = 1_000
"""A longer cell shows that the table arranges a page."""
MOST_COLUMNS: Final = 100
MOST_SPANNED_ROWS: Final = 1_000

_ARRANGING: Final = frozenset({"presentation", "none"})
_PAGE_PARTS: Final = ("table", "h1", "h2", "h3", "h4", "form", "pre", "dl")


@dataclass(frozen=True)
class HtmlTable:
    """The cells of a table. All rows have the same number of cells; a cell that spans rows is repeated in each."""

    caption: str
    header: Sequence[Sequence[str]]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class _Cell:
    text: str
    is_header: bool


def read_table(element: lxml.html.HtmlElement, text_of: Callable[[lxml.html.HtmlElement], str]) -> HtmlTable | None:
    """Read a table, or return None if it only arranges a page."""
    if element.get("role") in _ARRANGING or any(element.find(f".//{tag}") is not None for tag in _PAGE_PARTS):
        return None
    rows = [row for row in _rows(element, text_of) if any(cell.text for cell in row)]
    columns = max((len(row) for row in rows), default=0)
    is_single_line = len(rows) == 1 and not any(cell.is_header for cell in rows[0])
    if columns < 2 or is_single_line or any(len(cell.text) > LONGEST_CELL for row in rows for cell in row):  # noqa: PLR2004 - a list
        return None
    top = _header_length(element, rows)
    cells = [[*(cell.text for cell in row), *[""] * (columns - len(row))] for row in rows]
    caption = element.find("caption")
    return HtmlTable(text_of(caption) if caption is not None else "", cells[:top], cells[top:])


def find_stacked_cells(element: lxml.html.HtmlElement) -> Sequence[lxml.html.HtmlElement]:
    """Return the cells of a table with one column, if each holds several paragraphs, such as a name and a text."""
    cells = [cell for row in element.iter("tr") for cell in row if cell.tag == "td"]
    rows = sum(1 for row in element.iter("tr") if row.find("td") is not None)
    stacked = [cell for cell in cells if _is_stacked(cell)]
    return stacked if len(cells) == rows == len(stacked) > 1 else ()


def _is_stacked(cell: lxml.html.HtmlElement) -> bool:
    parts = list(cell)
    is_plain = not (cell.text or "").strip() and all(part.tag in ("p", "div") for part in parts)
    return is_plain and len(parts) > 1 and not any((part.tail or "").strip() for part in parts)


def _header_length(element: lxml.html.HtmlElement, rows: Sequence[Sequence[_Cell]]) -> int:
    """Count the rows at the top that only have header cells. A table of header cells only has no header."""
    count = next((at for at, row in enumerate(rows) if not all(cell.is_header for cell in row)), 0)
    if not count and (head := element.find("thead")) is not None:
        count = len(head.findall("tr"))
    return count if count < len(rows) else 0


def _rows(element: lxml.html.HtmlElement, text_of: Callable[[lxml.html.HtmlElement], str]) -> Iterator[Sequence[_Cell]]:
    """Yield the rows with the cells that span several rows or columns repeated or padded."""
    spanning: dict[int, tuple[int, _Cell]] = {}
    for row in element.iter("tr"):
        cells: list[_Cell] = []
        for child in row:
            if child.tag not in ("td", "th"):
                continue
            _add_spanning(cells, spanning)
            cell = _Cell(text_of(child), child.tag == "th")
            width, height = _span(child, "colspan", MOST_COLUMNS), _span(child, "rowspan", MOST_SPANNED_ROWS)
            for at in range(width):
                if height > 1:
                    spanning[len(cells)] = (height - 1, cell if at == 0 else _Cell("", cell.is_header))
                cells.append(cell if at == 0 else _Cell("", cell.is_header))
            if len(cells) > MOST_COLUMNS:
                break
        _add_spanning(cells, spanning)
        yield cells


def _add_spanning(cells: list[_Cell], spanning: dict[int, tuple[int, _Cell]]) -> None:
    """Add the cells of earlier rows that reach into this one."""
    while len(cells) in spanning:
        left, cell = spanning.pop(len(cells))
        if left > 1:
            spanning[len(cells)] = (left - 1, cell)
        cells.append(cell)


def _span(cell: lxml.html.HtmlElement, name: str, most: int) -> int:
    written = cell.get(name) or "1"
    return min(max(int(written), 1), most) if written.isdecimal() and len(written) <= len("9999") else 1
