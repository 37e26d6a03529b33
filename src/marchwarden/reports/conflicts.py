"""Quarrels: where an answer sets two citations against each other. Reads our own sentence, nothing freer."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from marchwarden.contract import Citation, ResearchResult

# Grounding writes this, and takes everything that looks like a marker out of what a mind or a page says.
_COMPARED: Final = re.compile(r"(?P<what>[^\n]{1,600}): compare \[(?P<one>\d{1,6})\] with \[(?P<other>\d{1,6})\]\.")


@dataclass(frozen=True)
class ShownConflict:
    """What it is about, and the two citations to be looked at side by side."""

    what: str
    one: int
    other: int


def conflicts_in(result: ResearchResult) -> Iterator[ShownConflict]:
    cited: dict[int, Citation] = dict(enumerate(result.citations, 1))
    for paragraph in result.answer.split("\n\n"):
        match = _COMPARED.fullmatch(paragraph.strip())
        if match and int(match["one"]) in cited and int(match["other"]) in cited:
            yield ShownConflict(match["what"], int(match["one"]), int(match["other"]))
