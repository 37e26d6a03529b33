"""Excerpts: where a citation stands in the archived text, with a little of what is around it. Pure offsets."""

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
    """An excerpt inside its text. `cut_before` and `cut_after` say whether the text goes on there."""

    before: str
    excerpt: str
    after: str
    cut_before: bool
    cut_after: bool


@dataclass(frozen=True)
class ExcerptPiece:
    """A stretch of a whole text, and the citations that are made of it: none for what lies between."""

    text: str
    numbers: tuple[int, ...] = ()


def window(citation: Citation, text: str | None, around: int = AROUND) -> Window | None:
    """The excerpt in its place, or None where the text is lost or does not say it there."""
    place = _place(citation, text)
    if text is None or place is None:
        return None
    start, end = place
    first = _next_word_start(text, max(start - around, 0), start)
    last = _previous_word_end(text, min(end + around, len(text)), end)
    return Window(text[first:start], text[start:end], text[end:last], first > 0, last < len(text))


def split_by_citations(text: str, citations: Sequence[NumberedCitation]) -> Iterator[ExcerptPiece]:
    """The whole text, cut where an excerpt begins or ends; excerpts may overlap."""
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
    """The beginning of the next word, if it is near."""
    if at == 0:
        return 0
    near = [i + 1 for i in range(at, min(at + _WORD, limit)) if text[i].isspace()]
    return near[0] if near else at


def _previous_word_end(text: str, at: int, limit: int) -> int:
    """The end of the last whole word, if it is near."""
    if at == len(text):
        return at
    near = [i for i in range(at - 1, max(at - _WORD, limit) - 1, -1) if text[i].isspace()]
    return near[0] if near else at
