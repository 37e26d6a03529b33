"""Split text into passages and sentences: character spans with short ids.

Every letter and digit of a text is in exactly one sentence, and every sentence is in exactly one passage. Knows nothing
about documents, ranking or questions.
"""

import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from marchwarden.contract import CUT
from marchwarden.text.sanitize import REMOVAL_MARK

Layout = Literal["prose", "lines", "table"]
"""`lines`: each line is separate (code, logs). `table`: likewise, and the first line names the columns."""

LONGEST_SENTENCE: Final = 480
FULL_PASSAGE: Final = 700
PASSAGE_MAY_END: Final = 400
LONGEST_BLOCK: Final = 20_000
LONGEST_HEADING: Final = 100
BREAK: Final = re.compile(f"{REMOVAL_MARK}|{re.escape(CUT)}")
"""Excerpts never span these places: text is missing there, or the source contains our own cut mark."""

_LINE: Final = re.compile(r"[^\n]*\n?")
_FIRST_LINE: Final = re.compile(r"\S[^\n]*")
_BLOCK_START: Final = re.compile(r"\s*(?:[-*+•|>]|\d{1,3}[.)]|#{1,6})\s")
_BAR: Final = re.compile(r"^\s*\||\s\|(?:\s|$)|-\|-")
_LETTER_OR_DIGIT: Final = re.compile(r"[^\W_]")
_DIRECTIVE: Final = ".. "
_FENCE: Final = re.compile(r"\s*(?:```|~~~(?!~))")
_MARKED_HEADING: Final = re.compile(r"\s{0,3}#{1,6}\s+(.+?)\s*#*\s*")
_UNDERLINE: Final = re.compile(r"\s*([=\-~^\"'*+#])\1{2,}\s*")
_STARTS_WITH_CAPITAL: Final = re.compile(r"[\s\"'“‘`(\[]*[^\W\d_a-zß-öø-ÿ]")
_CONTINUES: Final = re.compile(r"\s*(?:\([^()]{1,200}\)\s*)?[a-zß-öø-ÿ]+\b")
_PARENTHESIS: Final = re.compile(r"\s*[([][^()\[\]]{0,79}[^()\[\].!?][)\]][.;]?\s*")
_CLAUSE_END: Final = re.compile(r"[;:,)\]—–](?=\s)|(?<=\s)[—–-](?=\s)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """The smallest unit of evidence. Headings are sentences too."""

    id: str
    start: int
    end: int
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """A few consecutive sentences under one heading of a document."""

    id: str
    document: int
    start: int
    end: int
    sentences: tuple[Sentence, ...]
    heading: str = ""


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph, a list item, a table row or a heading."""

    start: int
    end: int
    is_heading: bool = False
    is_row: bool = False


def split(text: str, layout: Layout = "prose", *, first: int = 1, document: int = 0) -> list[Passage]:
    """Split a text into passages, numbered from `first`."""
    return list(iter_passages(text, layout, first=first, document=document))


def iter_passages(text: str, layout: Layout = "prose", *, first: int = 1, document: int = 0) -> Iterator[Passage]:
    """Yield the passages of a text one by one, for texts whose passages need not be in memory together."""
    heading = _first_line(text) if layout == "table" else ""
    number = first
    pending: list[tuple[int, int, bool]] = []

    def close() -> Iterator[Passage]:
        nonlocal number
        if pending:
            name = f"p{number}"
            sentences = tuple(Sentence(f"{name}.s{at}", *piece) for at, piece in enumerate(pending, 1))
            yield Passage(name, document, pending[0][0], pending[-1][1], sentences, heading)
            number += 1
            pending.clear()

    for block in _prose_blocks(text) if layout == "prose" else _line_blocks(text):
        if block.is_heading or (
            pending and block.end - pending[0][0] > FULL_PASSAGE and _length(pending) > PASSAGE_MAY_END
        ):
            yield from close()
        if block.is_heading:
            heading = _heading_text(text[block.start : block.end])
            pending.append((block.start, block.end, True))
            continue
        is_whole = block.is_row or layout != "prose"
        for start, end in _cut(text, block.start, block.end) if is_whole else _sentences(text, block):
            if pending and end - pending[0][0] > FULL_PASSAGE:
                yield from close()
            pending.append((start, end, False))
    yield from close()


def looks_like_a_row(line: str) -> bool:
    """Whether bars separate the line into cells. A table has at least two such lines in a row."""
    return "|" in line and _BAR.search(line) is not None


def is_marked(text: str, heading: Sentence) -> bool:
    """Whether a heading is marked as one in the text, rather than guessed from a short separate line."""
    below = text[heading.end : heading.end + 2 * LONGEST_HEADING].lstrip(" \t").removeprefix("\n").partition("\n")[0]
    return text.startswith("#", heading.start) or _UNDERLINE.fullmatch(below) is not None


def _length(pending: list[tuple[int, int, bool]]) -> int:
    return pending[-1][1] - pending[0][0]


def _first_line(text: str) -> str:
    first = _FIRST_LINE.search(text)
    return first[0].strip()[:LONGEST_SENTENCE] if first else ""


def _heading_text(line: str) -> str:
    marked = _MARKED_HEADING.fullmatch(line)
    return (marked[1] if marked else line).strip()


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without white space at its ends. Copies nothing: the span may be a whole document."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _has_text(text: str) -> bool:
    return _LETTER_OR_DIGIT.search(text) is not None


def _line_blocks(text: str) -> Iterator[_Block]:
    for line in _LINE.finditer(text):
        if _has_text(line[0]):
            yield _Block(*_trim(text, *line.span()))


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


def _prose_blocks(text: str) -> Iterator[_Block]:
    """Yield paragraphs, which end at empty lines, and separate blocks for list items, rows, code lines and headings."""
    lines = _Lines(text)
    block_start: int | None = None
    fenced = False
    for at in range(len(lines)):
        (start, end), line = lines.span(at), lines[at]
        fenced ^= bool(_FENCE.match(line))
        if not _has_text(line):
            if block_start is not None:
                yield _Block(*_trim(text, block_start, start))
            block_start = None
            continue
        row = not fenced and _is_row(lines, at)
        heading = not fenced and not row and _is_heading(lines, at, after_gap=block_start is None)
        if block_start is not None and (fenced or row or heading or _BLOCK_START.match(line)):
            yield _Block(*_trim(text, block_start, start))
            block_start = None
        if heading or row:
            yield _Block(*_trim(text, start, end), is_heading=heading, is_row=row)
        elif block_start is None:
            block_start = start
    if block_start is not None:
        yield _Block(*_trim(text, block_start, len(text)))


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
    if _UNDERLINE.fullmatch(following.rstrip("\n")):
        return True
    has_text_below = at + 2 < len(lines)
    return has_text_below and not following.strip() and line[-1] not in ".!?;:,\"'”’)"


def _is_code(lines: _Lines, at: int) -> bool:
    """Whether the line is indented below a line that introduces code."""
    if not lines[at][0].isspace():
        return False
    above = (lines[near].strip() for near in range(at - 1, -1, -1))
    before = next((line for line in above if line), "")
    return before.endswith("::") or before.startswith(_DIRECTIVE)


def _sentences(text: str, block: _Block) -> Iterator[tuple[int, int]]:
    # Imported here because its model takes 75 ms to load, which would slow down `--help`.
    from nupunkt import sent_spans

    for from_, to in _windows(text, block.start, block.end):
        spans = ((from_ + start, from_ + end) for start, end in sent_spans(text[from_:to]))
        for start, end in _rejoin(text, spans):
            yield from _cut(text, *_trim(text, start, end))


def _rejoin(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join sentences that were split too early.

    The next part starts in lower case, as in `Panic! at the Disco`, or is in brackets, as in `No limit. (Default 100)`.
    """
    current: tuple[int, int] | None = None
    for start, end in spans:
        continues = _CONTINUES.match(text, start) and current and _STARTS_WITH_CAPITAL.match(text, current[0])
        if current and end - current[0] <= LONGEST_SENTENCE and (continues or _PARENTHESIS.fullmatch(text, start, end)):
            current = current[0], end
            continue
        if current:
            yield current
        current = start, end
    if current:
        yield current


def _windows(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split a long block into pieces for the sentence splitter, at white space if possible."""
    while end - start > LONGEST_BLOCK:
        at = text.rfind(" ", start + LONGEST_BLOCK // 2, start + LONGEST_BLOCK)
        at = at if at > 0 else start + LONGEST_BLOCK
        yield start, at
        start = at
    yield start, end


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split a sentence at breaks, and pieces that are too long for an excerpt at clause ends.

    A cut mark that is part of the source counts as a break, because in an excerpt it must mean our own cut.
    """
    for gap in BREAK.finditer(text, start, end):
        yield from _clauses(text, *_trim(text, start, gap.start()))
        start = gap.end()
    yield from _clauses(text, *_trim(text, start, end))


def _clauses(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > LONGEST_SENTENCE:
        window = text[start : start + LONGEST_SENTENCE]
        clauses = [match.end() for match in _CLAUSE_END.finditer(window) if match.end() > LONGEST_SENTENCE // 3]
        at = clauses[-1] if clauses else max(window.rfind(" "), window.rfind("\n"))
        at = at if at > 0 else LONGEST_SENTENCE
        if _has_text(text[start : start + at]):
            yield _trim(text, start, start + at)
        start = _trim(text, start + at, end)[0]
    if _has_text(text[start:end]):
        yield _trim(text, start, end)
