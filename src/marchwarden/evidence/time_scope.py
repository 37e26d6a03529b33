"""For which time a statement is made, as far as its words and the title above it tell. Judges no disagreement."""

import re
from typing import Final

from marchwarden.text.numbers import MONTHS, Moment, parse_numbers

_REFERENCE: Final = re.compile(
    r"^\W*\d{1,3}[.)]\s"
    r"|\b(?:note|item|section|part|chapter|figure|table|page|exhibit|form|rule|article|annex|appendix)s?\s+\d[\w.-]*",
    re.IGNORECASE,
)
_PERIOD: Final = re.compile(
    r"\b(?:(?:year|quarter|month|week|period|half)s?\s+(?:ended|ending|to|of)|fiscal|as\s+(?:of|at)"
    r"|compared\s+(?:to|with))\b[^.;:]{0,40}?\b\d{4}\b"
    r"|\b(?:the|our|its|their)\s+\d{4}\s(?=[A-Za-z])",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W_]+")
_DATED: Final = re.compile(rf"(?:fy)?(?:19|20)\d\d|[qh][1-4]|{'|'.join(MONTHS)}")
_DAY: Final = re.compile(r"\d{1,2}")


def without_references(text: str) -> str:
    """Without the numbers of where something is written, which tell nothing about it: `(2) …`, `see Note 14`."""
    return _REFERENCE.sub(" ", text)


def periods(text: str) -> tuple[Moment, ...]:
    """The times a statement is made for, as `the quarter ended 30 June 2022` and `our 2022 report` say them."""
    return parse_numbers(" ".join(_PERIOD.findall(text))).moments


def are_editions(title: str, other: str) -> bool:
    """Whether two titles differ in nothing but a date: `Report 2022` and `Report 2023`, each of its own time."""
    mine, yours = (frozenset(_WORD.findall(each.casefold())) for each in (title, other))
    differ = mine ^ yours
    dated = {word for word in differ if _DATED.fullmatch(word)}
    return bool(mine & yours and dated & mine and dated & yours) and all(map(_DAY.fullmatch, differ - dated))
