"""Locate citations in the archived text, with some context. Works on offsets only."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from marchwarden.contract import CUT, Citation
from marchwarden.reports.bundle import NumberedCitation

AROUND: Final = 280
_WORD: Final = 40


@dataclass(frozen=True)
class Window:
    """An excerpt in its context. `cut_before` and `cut_after` tell whether the text continues there."""

    before: str
    excerpt: str
    after: str
    cut_before: bool
    cut_after: bool


@dataclass(frozen=True)
class ExcerptPiece:
    """A section of a text and the numbers of the citations that cover it, if any."""

    text: str
    numbers: tuple[int, ...] = ()


def window(citation: Citation, text: str | None, around: int = AROUND) -> Window | None:
    """Return the excerpt in context, or None if the text is lost or does not contain it at its offsets."""
    place = _place(citation, text)
    if text is None or place is None:
        return None
    start, end = place
    first = _next_word_start(text, max(start - around, 0), start)
    last = _previous_word_end(text, min(end + around, len(text)), end)
    return Window(text[first:start], text[start:end], text[end:last], first > 0, last < len(text))


def split_by_citations(text: str, citations: Sequence[NumberedCitation]) -> Iterator[ExcerptPiece]:
    """Split the text wherever an excerpt begins or ends. Excerpts may overlap."""
    placed = [(each.number, place) for each in citations if (place := _place(each.citation, text))]
    edges = sorted({0, len(text), *(edge for _, place in placed for edge in place)})
    for start, end in pairwise(edges):
        numbers = tuple(number for number, (first, last) in placed if first <= start and end <= last)
        yield ExcerptPiece(text[start:end], numbers)


def _place(citation: Citation, text: str | None) -> tuple[int, int] | None:
    if text is None or citation.start is None or citation.end is None:
        return None
    quoted = text[citation.start : citation.end]
    return (citation.start, citation.end) if quoted and citation.raw_excerpt in {quoted, f"{quoted} {CUT}"} else None


def _next_word_start(text: str, at: int, limit: int) -> int:
    """Return the start of the next word if it is near, otherwise `at`."""
    if at == 0:
        return 0
    near = [i + 1 for i in range(at, min(at + _WORD, limit)) if text[i].isspace()]
    return near[0] if near else at


def _previous_word_end(text: str, at: int, limit: int) -> int:
    """Return the end of the last complete word if it is near, otherwise `at`."""
    if at == len(text):
        return at
    near = [i for i in range(at - 1, max(at - _WORD, limit) - 1, -1) if text[i].isspace()]
    return near[0] if near else at
