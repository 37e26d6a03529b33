"""Split an English sentence into clauses. Does not know documents."""

import re
from typing import Final

_VERB: Final = r"(?:is|are|was|were|has|have|had)\b"
_CLAUSE_ENDS: Final = re.compile(
    rf"[;:]\s|,\s+(?:(?:and|but)\b(?!\s+{_VERB})|(?:while|whereas|which|who|although|though)\b)"
)
_PREDICATES: Final = re.compile(rf"(?:,|,?\s+and|,?\s+but)\s+(?={_VERB})")
_SUBJECT: Final = re.compile(rf"(?:[\w'’-]+\s+){{1,6}}?(?={_VERB})")


def clauses(text: str) -> list[str]:
    """Split a sentence into clauses. Verbs that share a subject each get a copy of it."""
    split: list[str] = []
    for clause in _CLAUSE_ENDS.split(text):
        first, *others = _PREDICATES.split(clause)
        subject = _SUBJECT.match(first)
        split += [first, *(f"{subject[0] if subject else ''}{each}" for each in others)]
    return split
