"""Find the sections of a paper's text, as marks that a locator can name. Reads headings, not markup.

The names are those of arXiv's HTML pages: `S2`, `S2.SS1`, `A1`, `bib`.
"""

import re
from collections.abc import Iterator
from typing import Final

from marchwarden.core.notebook import Mark

LONGEST_HEADING: Final = 120
_NUMBERED: Final = re.compile(r"(?:section\s+)?(\d{1,2}(?:\.\d{1,2}){0,2})\.?\s+\S.*", re.IGNORECASE)
_LETTERED: Final = re.compile(r"appendix\s+([A-Z])\b.*", re.IGNORECASE)
_NAMED: Final = {
    "abstract": "abstract",
    "references": "bib",
    "bibliography": "bib",
    "acknowledgements": "acknowledgements",
}
_MAX_STEP: Final = 2
_LEVELS: Final = ("S", ".SS", ".SSS")


def find_sections(text: str) -> tuple[Mark, ...]:
    """Mark where each section begins. A numbered line counts only if its number comes next: tables have numbers too."""
    marks: list[Mark] = []
    last_seen: tuple[int, ...] = (0,)
    for start, line in _headings(text):
        numbered = _NUMBERED.fullmatch(line)
        if numbered:
            number = tuple(map(int, numbered[1].split(".")))
            if _may_follow(number, last_seen):
                last_seen = number
                marks.append(Mark(start, _fragment(number)))
        elif fragment := _unnumbered(line):
            marks.append(Mark(start, fragment))
    return tuple(marks)


def _headings(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped and len(stripped) <= LONGEST_HEADING and stripped[-1] not in ".!?;:,":
            yield start, stripped
        start += len(line) + 1


def _may_follow(number: tuple[int, ...], last_seen: tuple[int, ...]) -> bool:
    """Tell whether a section number may come next: a first subsection, or the next at any level. One may be missing."""
    *above, last = number
    if len(number) > len(last_seen):
        return tuple(above) == last_seen and last <= _MAX_STEP
    before = last_seen[len(above)]
    return tuple(above) == last_seen[: len(above)] and before < last <= before + _MAX_STEP


def _fragment(number: tuple[int, ...]) -> str:
    return "".join(f"{level}{part}" for level, part in zip(_LEVELS, number, strict=False))


def _unnumbered(line: str) -> str:
    lettered = _LETTERED.fullmatch(line)
    return f"A{ord(lettered[1].upper()) - ord('A') + 1}" if lettered else _NAMED.get(line.casefold(), "")
