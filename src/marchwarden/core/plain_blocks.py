"""Guess the blocks of a text that has no markup: headings, paragraphs, list items, table rows and code lines."""

import re
from array import array
from collections.abc import Iterator
from typing import Final

from marchwarden.core.blocks import Block, BlockKind
from marchwarden.core.sentences import has_text, trim
from marchwarden.text.punctuation import PAUSES, STRONG

LONGEST_HEADING: Final = 100

_LINE: Final = re.compile(r"[^\n]*\n?")
_BLOCK_START: Final = re.compile(r"\s*(?:[-*+•|>]|\d{1,3}[.)]|#{1,6})\s")
_BAR: Final = re.compile(r"^\s*\||\s\|(?:\s|$)|-\|-")
_DIRECTIVE: Final = ".. "
_FENCE: Final = re.compile(r"\s*(?:```|~~~(?!~))")
_MARKED_HEADING: Final = re.compile(r"\s{0,3}(#{1,6})\s+(.+?)\s*#*\s*")
_UNDERLINE: Final = re.compile(r"\s*([=\-~^\"'*+#])\1{2,}\s*")
_UNDERLINE_LEVELS: Final = "=-~^\"'+*#"
_LOWEST_LEVEL: Final = 9


_NOT_AT_HEADING_END: Final = frozenset(f".!?;:,\"'”’){PAUSES}{STRONG}」』）”")


def heading_text(line: str) -> str:
    """Return a heading without its marks."""
    marked = _MARKED_HEADING.fullmatch(line)
    return (marked[2] if marked else line).strip()


def is_underline(line: str) -> bool:
    """Whether the line underlines a heading."""
    return _UNDERLINE.fullmatch(line) is not None


def looks_like_a_row(line: str) -> bool:
    """Whether bars separate the line into cells. A table has at least two such lines in a row."""
    return "|" in line and _BAR.search(line) is not None


class _Lines:
    """The lines of a text, by number. Stores only where they start: a text may have many."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = array("q", (line.start() for line in _LINE.finditer(text)))

    def __len__(self) -> int:
        return len(self._starts) - 1

    def span(self, at: int) -> tuple[int, int]:
        return self._starts[at], self._starts[at + 1]

    def __getitem__(self, at: int) -> str:
        """Return a line, or nothing if there is no such line."""
        return self._text[slice(*self.span(at))] if 0 <= at < len(self) else ""


def prose_blocks(text: str) -> Iterator[Block]:
    """Yield paragraphs, which end at empty lines, and separate blocks for list items, rows, code lines and headings."""
    lines = _Lines(text)
    block_start: int | None = None
    fenced = False
    for at in range(len(lines)):
        (start, end), line = lines.span(at), lines[at]
        fenced ^= bool(_FENCE.match(line))
        if not has_text(line):
            if block_start is not None:
                yield Block(BlockKind.PARAGRAPH, *trim(text, block_start, start))
            block_start = None
            continue
        row = not fenced and _is_row(lines, at)
        heading = not fenced and not row and _is_heading(lines, at, after_gap=block_start is None)
        if block_start is not None and (fenced or row or heading or _BLOCK_START.match(line)):
            yield Block(BlockKind.PARAGRAPH, *trim(text, block_start, start))
            block_start = None
        if heading:
            yield Block(BlockKind.HEADING, *trim(text, start, end), _heading_level(line, lines[at + 1]))
        elif row:
            yield Block(BlockKind.ROW, *trim(text, start, end))
        elif block_start is None:
            block_start = start
    if block_start is not None:
        yield Block(BlockKind.PARAGRAPH, *trim(text, block_start, len(text)))


def _is_row(lines: _Lines, at: int) -> bool:
    """Whether the line and one of its neighbours are separated into cells by bars."""
    return looks_like_a_row(lines[at]) and any(looks_like_a_row(lines[near]) for near in (at - 1, at + 1))


def _is_heading(lines: _Lines, at: int, *, after_gap: bool) -> bool:
    """Whether the line is marked, underlined, or short, separate and without sentence punctuation at the end."""
    line = lines[at].strip()
    if len(line) > LONGEST_HEADING:
        return False
    if _MARKED_HEADING.fullmatch(line):
        return True
    following = lines[at + 1]
    if not after_gap or _BLOCK_START.match(line + " ") or line.startswith(_DIRECTIVE) or _is_code(lines, at):
        return False
    if is_underline(following.rstrip("\n")):
        return True
    has_text_below = at + 2 < len(lines)
    return has_text_below and not following.strip() and line[-1] not in _NOT_AT_HEADING_END


def _is_code(lines: _Lines, at: int) -> bool:
    """Whether the line is indented below a line that introduces code."""
    if not lines[at][0].isspace():
        return False
    above = (lines[near].strip() for near in range(at - 1, -1, -1))
    before = next((line for line in above if line), "")
    return before.endswith("::") or before.startswith(_DIRECTIVE)


def line_blocks(text: str) -> Iterator[Block]:
    """Yield each line, as a row: lines are not split into sentences."""
    for line in _LINE.finditer(text):
        if has_text(line[0]):
            yield Block(BlockKind.ROW, *trim(text, *line.span()))


def _heading_level(line: str, following: str) -> int:
    """The level of a heading: the number of `#` signs, by the character of its underline, or the lowest."""
    if marked := _MARKED_HEADING.fullmatch(line.rstrip("\n")):
        return len(marked[1])
    underline = _UNDERLINE.fullmatch(following.rstrip("\n"))
    return _UNDERLINE_LEVELS.index(underline[1]) + 1 if underline else _LOWEST_LEVEL
