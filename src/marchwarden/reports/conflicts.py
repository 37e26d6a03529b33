"""Finds the pairs of citations that an answer compares."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from marchwarden.contract import ResearchResult
from marchwarden.evidence.grounding import conflict_sentence

# The sentence in answers of runs from before results had a field for conflicts.
_COMPARED: Final = re.compile(r"(?P<what>[^\n]{1,600}): compare \[(?P<one>\d{1,6})\] with \[(?P<other>\d{1,6})\]\.")


@dataclass(frozen=True)
class ShownConflict:
    """A conflict and the numbers of its two citations."""

    what: str
    one: int
    other: int


def conflicts_in(result: ResearchResult) -> Iterator[ShownConflict]:
    """Yield the conflicts whose citations both exist."""
    for each in _typed(result) if result.conflicts else _parsed(result.answer):
        if max(each.one, each.other) <= len(result.citations) and min(each.one, each.other) > 0:
            yield each


def _typed(result: ResearchResult) -> Iterator[ShownConflict]:
    for each in result.conflicts:
        yield ShownConflict(conflict_sentence(each), each.one, each.other)


def _parsed(answer: str) -> Iterator[ShownConflict]:
    for paragraph in answer.split("\n\n"):
        if match := _COMPARED.fullmatch(paragraph.strip()):
            yield ShownConflict(match["what"], int(match["one"]), int(match["other"]))
