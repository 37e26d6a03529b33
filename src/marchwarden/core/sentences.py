"""Split a stretch of text into sentences: character spans short enough for an excerpt. Does not know documents."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from marchwarden.contract import CUT
from marchwarden.text.punctuation import CLOSING, STRONG
from marchwarden.text.sanitize import REMOVAL_MARK
from marchwarden.text.scripts import LOWER, SOUTH_EAST_ASIAN

LONGEST_SENTENCE: Final = 480
LONGEST_BLOCK: Final = 20_000
BREAK: Final = re.compile(f"{REMOVAL_MARK}|{re.escape(CUT)}")
"""Excerpts never span these places: text is missing there, or the source contains our own cut mark."""

_LETTER_OR_DIGIT: Final = re.compile(r"[^\W_]")
_STARTS_WITH_CAPITAL: Final = re.compile(rf"[\s\"'“‘„«`(\[]*[^\W\d_{LOWER}]")
_CONTINUES: Final = re.compile(rf"\s*(?:\([^()]{{1,200}}\)\s*)?[{LOWER}]+\b")
_NO_END: Final = re.compile(rf"(?:\b(?:am|vom|zum|dem|den|des|im|der|bis|und) \d{{1,2}}|[{SOUTH_EAST_ASIAN}])\.")
"""A German day, as in `am 3. Oktober`, and a Thai abbreviation. Thai has no full stop."""
_LONGEST_NO_END: Final = 7
_STRONG_END: Final = re.compile(rf"[{STRONG}]+[{CLOSING}]*")
_GAP: Final = re.compile(f"(?<=[{SOUTH_EAST_ASIAN}])[ \t\n]+")
SHORTEST_CLAUSE: Final = 90
"""Thai has no full stop: its sentences and clauses end at spaces. Shorter pieces are joined with the next."""
_PARENTHESIS: Final = re.compile(r"\s*[([][^()\[\]]{0,79}[^()\[\].!?][)\]][.;]?\s*")
_CLAUSE_END: Final = re.compile(r"[;:,)\]—–،؛](?=\s)|(?<=\s)[—–-](?=\s)|[，、；：]")


def split_sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a span. Pieces that are too long for an excerpt are cut at clause ends."""
    # Imported here because its model takes 75 ms to load, which would slow down `--help`.
    from nupunkt import sent_spans

    for from_, to in _windows(text, start, end):
        spans = ((from_ + start, from_ + end) for start, end in sent_spans(text[from_:to]))
        for joined in _rejoin(text, spans):
            for first, last in _split_other_scripts(text, *joined):
                yield from cut_at_breaks(text, *trim(text, first, last))


def _split_other_scripts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split at the sentence ends of scripts that the splitter does not know."""
    if not text.isascii():
        for match in _STRONG_END.finditer(text, start, end):
            yield from _split_at_gaps(text, start, match.end())
            start = match.end()
    yield from _split_at_gaps(text, start, end)


def _split_at_gaps(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split Thai and its neighbours at spaces, into pieces of at least a clause."""
    if not text.isascii():
        for gap in _GAP.finditer(text, start, end):
            if gap.start() - start >= SHORTEST_CLAUSE and end - gap.end() >= SHORTEST_CLAUSE:
                yield start, gap.start()
                start = gap.end()
    yield start, end


def _rejoin(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join sentences that were split too early.

    The next part starts in lower case, as in `Panic! at the Disco`, or is in brackets, as in `No limit. (Default 100)`.
    """
    current: tuple[int, int] | None = None
    for start, end in spans:
        continues = current and (
            (_CONTINUES.match(text, start) and _STARTS_WITH_CAPITAL.match(text, current[0]))
            or _is_unfinished(text, *trim(text, *current))
        )
        if current and end - current[0] <= LONGEST_SENTENCE and (continues or _PARENTHESIS.fullmatch(text, start, end)):
            current = current[0], end
            continue
        if current:
            yield current
        current = start, end
    if current:
        yield current


def _is_unfinished(text: str, start: int, end: int) -> bool:
    """Whether the full stop at the end of a span belongs to an ordinal or abbreviation."""
    if text[end - 1] != "." or text[end - 2].islower() or text[end - 2].isupper():
        return False
    return any(_NO_END.fullmatch(text, at, end) for at in range(max(start, end - _LONGEST_NO_END), end - 1))


def _windows(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split a long block into pieces for the sentence splitter, at white space if possible."""
    while end - start > LONGEST_BLOCK:
        at = text.rfind(" ", start + LONGEST_BLOCK // 2, start + LONGEST_BLOCK)
        at = at if at > 0 else start + LONGEST_BLOCK
        yield start, at
        start = at
    yield start, end


def cut_at_breaks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split a sentence at breaks, and pieces that are too long for an excerpt at clause ends.

    A cut mark that is part of the source counts as a break, because in an excerpt it must mean our own cut.
    """
    for gap in BREAK.finditer(text, start, end):
        yield from _clauses(text, *trim(text, start, gap.start()))
        start = gap.end()
    yield from _clauses(text, *trim(text, start, end))


def _clauses(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > LONGEST_SENTENCE:
        window = text[start : start + LONGEST_SENTENCE]
        clauses = [match.end() for match in _CLAUSE_END.finditer(window) if match.end() > LONGEST_SENTENCE // 3]
        at = clauses[-1] if clauses else max(window.rfind(" "), window.rfind("\n"))
        at = at if at > 0 else LONGEST_SENTENCE
        if has_text(text[start : start + at]):
            yield trim(text, start, start + at)
        start = trim(text, start + at, end)[0]
    if has_text(text[start:end]):
        yield trim(text, start, end)


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without white space at its ends. Copies nothing: the span may be a whole document."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def has_text(text: str) -> bool:
    return _LETTER_OR_DIGIT.search(text) is not None
