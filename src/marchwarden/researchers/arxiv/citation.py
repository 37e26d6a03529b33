"""How a paper is cited: its title, the family names of its authors, the year. Knows names, not papers."""

from collections.abc import Sequence
from typing import Final

_BODIES: Final = frozenset({"collaboration", "collaborations", "consortium", "team", "group", "project", "committee"})
_TAILS: Final = frozenset({"jr", "jr.", "sr", "sr.", "ii", "iii", "iv"})
_PAIR: Final = 2


def cited(title: str, authors: Sequence[str], year: int) -> str:
    """`Title (Okoye and Brandt, 2020)`; of three and more authors the first stands for all."""
    families = [family(name) for name in authors]
    if not families:
        return f"{title} ({year})"
    who = " and ".join(families) if len(families) <= _PAIR else f"{families[0]} et al."
    return f"{title} ({who}, {year})"


def family(name: str) -> str:
    """The family name with its particles: `de With` of `Peter H. N. de With`. A body of people keeps its whole name."""
    words = name.split()
    if len(words) < _PAIR or words[-1].casefold() in _BODIES:
        return name
    end = len(words) - (words[-1].casefold() in _TAILS)
    start = end - 1
    while start > 1 and words[start - 1].islower():
        start -= 1
    return " ".join(words[start:end])
