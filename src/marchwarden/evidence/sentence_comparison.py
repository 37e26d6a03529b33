"""Compare sentences for conflict detection: their clauses, the period they apply to, and a single swapped name.

English only. Does not know documents and does not decide about conflicts.
"""

import re
from difflib import SequenceMatcher
from typing import Final

from marchwarden.text.numbers import MONTHS, Moment, parse_numbers
from marchwarden.text.words import STOP_WORDS

_VERB: Final = r"(?:is|are|was|were|has|have|had)\b"
_CLAUSE_ENDS: Final = re.compile(
    rf"[;:]\s|,\s+(?:(?:and|but)\b(?!\s+{_VERB})|(?:while|whereas|which|who|although|though)\b)"
)
_PREDICATES: Final = re.compile(rf"(?:,|,?\s+and|,?\s+but)\s+(?={_VERB})")
_SUBJECT: Final = re.compile(rf"(?:[\w'’-]+\s+){{1,6}}?(?={_VERB})")

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
_TITLE_WORD: Final = re.compile(r"[^\W_]+")
_DATED: Final = re.compile(rf"(?:fy)?(?:19|20)\d\d|[qh][1-4]|{'|'.join(MONTHS)}")
_DAY: Final = re.compile(r"\d{1,2}")

LONGEST_NAME: Final = 5
SAME_NAME: Final = 0.7
_ENUMERATES: Final = frozenset({"and", "or", "including"})
_LINKS: Final = frozenset({"of", "the", "de", "la", "van", "von"})


def split_clauses(text: str) -> list[str]:
    """Split a sentence into clauses. Verbs that share a subject each get a copy of it."""
    words: list[str] = []
    for clause in _CLAUSE_ENDS.split(text):
        first, *others = _PREDICATES.split(clause)
        subject = _SUBJECT.match(first)
        words += [first, *(f"{subject[0] if subject else ''}{each}" for each in others)]
    return words


def without_references(text: str) -> str:
    """Remove reference numbers such as `(2) …` or `see Note 14`, which are not facts."""
    return _REFERENCE.sub(" ", text)


def find_periods(text: str) -> tuple[Moment, ...]:
    """Return the periods a statement applies to, as in `the quarter ended 30 June 2022` or `our 2022 report`."""
    return parse_numbers(" ".join(_PERIOD.findall(text))).moments


def are_editions(title: str, other: str) -> bool:
    """Whether two titles differ only in a date: `Report 2022` and `Report 2023`."""
    mine, yours = (frozenset(_TITLE_WORD.findall(each.casefold())) for each in (title, other))
    differ = mine ^ yours
    dated = {word for word in differ if _DATED.fullmatch(word)}
    return bool(mine & yours and dated & mine and dated & yours) and all(map(_DAY.fullmatch, differ - dated))


def swapped_names(ours: list[str], theirs: list[str]) -> tuple[str, ...]:
    """Return the two names if the sentences differ only in one name (ignoring stop words), or nothing."""
    swaps: list[tuple[str, str]] = []
    one, other = ([word.casefold() for word in words] for words in (ours, theirs))
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    for change, start, end, other_start, other_end in matcher.get_opcodes():
        if change == "equal" or (change != "replace" and not (start and other_start)):
            continue  # One text may start with a heading.
        mine, yours = _without_description(ours[start:end]), _without_description(theirs[other_start:other_end])
        if all(word.casefold() in STOP_WORDS for word in (*mine, *yours)):
            continue
        if not start or not other_start or not (_is_name(mine) and _is_name(yours)):
            return ()
        if ours[start - 1][0].isupper() or _ENUMERATES.intersection(one[start - 1 : start] + one[end : end + 1]):
            return ()
        swaps.append((" ".join(mine), " ".join(yours)))
    return swaps[0] if len(swaps) == 1 and not _is_spelling_variant(*swaps[0]) else ()


def _without_description(words: list[str]) -> list[str]:
    """Remove one descriptive word before a name: `widow Agnes Pohl`."""
    return words[1:] if len(words) > 1 and words[0].islower() and words[1][0].isupper() else words


def _is_spelling_variant(one: str, other: str) -> bool:
    return SequenceMatcher(None, one.casefold(), other.casefold(), autojunk=False).ratio() >= SAME_NAME


def _is_name(words: list[str]) -> bool:
    own = [word for word in words if word.casefold() not in _LINKS]
    return 0 < len(own) <= LONGEST_NAME and all(word[0].isupper() for word in own)
