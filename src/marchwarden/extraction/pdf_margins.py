"""Find the running headers, footers and page numbers of a PDF, which do not belong to its text."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from marchwarden.extraction.pdf_lines import Line

_ZONE: Final = 0.13
"""Share of the page at its top and bottom where headers and footers are."""
_SEVERAL: Final = 3
_TWICE: Final = 2
_SHARE: Final = 0.25
_SAME_HEIGHT: Final = 2.0
_LARGE: Final = 1.15
_NUMBER: Final = re.compile(r"\d+")
_FIRST_OR_LAST_NUMBER: Final = re.compile(r"^\D{0,12}(\d{1,4})\b|\b(\d{1,4})\D{0,3}$")
_PAGE_NUMBER: Final = re.compile(
    r"[\W_]*(?:(?:page|p\.|seite|s\.|página|pág\.|pagina|pag\.|стр\.|第)\s*)?"
    r"(?:\d{1,4}(?:\s*(?:/|of|von|de|sur|di|из)\s*\d{1,4})?|[ivxlc]{1,7})[\W_页]*",
    re.IGNORECASE,
)

_Key = tuple[str, int]
"""The text of a line and its height on the page."""


def without_margins(pages: Sequence[Sequence[Line]], body_size: float) -> list[Line]:
    """Return the lines of all pages except headers, footers and page numbers.

    A line of the margin is left out if it repeats at the same height on several pages, apart from its numbers, if it
    has the number of its page like the same line of other pages, or if it is nothing but a number at the very edge.
    """
    margins = [_margin_lines(page, body_size) for page in pages]
    repeated = _repeated(margins)
    offset = _page_number_offset(margins, max(_SEVERAL, int(len(pages) * _SHARE)))
    kept: list[Line] = []
    for page, margin in zip(pages, margins, strict=True):
        dropped = {
            line
            for line in margin
            if not repeated.isdisjoint(_keys(line)) or _has_number(line, offset) or _is_page_number(line, page)
        }
        kept += [line for line in page if line not in dropped] or page
    return kept


def _margin_lines(page: Sequence[Line], body_size: float) -> list[Line]:
    """Return the topmost and the lowest lines: two heights at the top and two at the bottom."""
    lines = [line for line in page if line.upright and line.size < body_size * _LARGE]
    top = sorted((line for line in lines if line.edge > 1 - _ZONE), key=lambda line: -line.base)
    bottom = sorted((line for line in lines if line.edge < _ZONE), key=lambda line: line.base)
    return [*_first_heights(top), *_first_heights(bottom)]


def _first_heights(lines: Sequence[Line]) -> list[Line]:
    taken: list[Line] = []
    heights: list[float] = []
    for line in lines:
        if not heights or abs(line.base - heights[-1]) > _SAME_HEIGHT:
            heights.append(line.base)
        if len(heights) > 2:  # noqa: PLR2004 - many headers and footers have two lines
            break
        taken.append(line)
    return taken


def _keys(line: Line) -> set[_Key]:
    height = round(line.base / _SAME_HEIGHT)
    return {(line.text, height), (_NUMBER.sub("#", line.text), height)}


def _repeated(margins: Iterable[Sequence[Line]]) -> set[_Key]:
    """Return the texts that are on several pages at the same height, with a number in place of each number.

    A text that is really the same is repeated if it is there twice.
    """
    counts = Counter(key for margin in margins for key in set[_Key]().union(*(_keys(line) for line in margin)))
    return {key for key, count in counts.items() if count >= (_SEVERAL if "#" in key[0] else _TWICE)}


def _numbers(line: Line) -> set[int]:
    return {int(number) for match in _FIRST_OR_LAST_NUMBER.finditer(line.text) for number in match.groups() if number}


def _page_number_offset(margins: Iterable[Sequence[Line]], enough: int) -> int | None:
    """Return the difference between the printed numbers of pages and their places in the file, if there is one."""
    offsets = Counter(
        offset for margin in margins for offset in {number - line.page for line in margin for number in _numbers(line)}
    )
    return next((offset for offset, count in offsets.most_common(1) if count >= enough), None)


def _has_number(line: Line, offset: int | None) -> bool:
    return offset is not None and line.page + offset in _numbers(line)


def _is_page_number(line: Line, page: Sequence[Line]) -> bool:
    alone = _PAGE_NUMBER.fullmatch(line.text) is not None
    return alone and all(abs(line.base - other.base) > line.size or other is line for other in page if other.upright)
