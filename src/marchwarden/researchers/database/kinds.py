"""What sort of thing a column holds, told from what its engine calls it."""

import re
from collections.abc import Sequence
from typing import Final

from marchwarden.researchers.database.models import Kind

_KINDS: Final = (
    (Kind.TRUTH, re.compile(r"\bbool(?:ean)?\b")),
    (Kind.MOMENT, re.compile(r"\b(?:date|datetime|time|timetz|timestamp|timestamptz|year)\w*")),
    (
        Kind.NUMBER,
        re.compile(
            r"\b(?:u?(?:tiny|small|medium|big|huge)?int(?:eger)?\d*|numeric|number|decimal|dec|real|float\d*|double|money"
            r"|(?:small|big)?serial\d*|currency)\b"
        ),
    ),
    (
        Kind.TEXT,
        re.compile(r"\b(?:\w*char\w*|character|\w*text|n?clob|string|uuid|name|enum|bpchar|citext|url|email)\b"),
    ),
)


def kind_of(declared: str) -> Kind:
    """The kind of a declared type; OTHER for arrays, documents, bytes and whatever is not known."""
    name = declared.casefold().replace("_", " ")
    if name.endswith("]"):
        return Kind.OTHER
    return next((kind for kind, words in _KINDS if words.search(name)), Kind.OTHER)


def kind_met(values: Sequence[object]) -> Kind:
    """The kind of a column that declares none, from what was met in it."""
    met = [value for value in values if value is not None]
    if met and all(isinstance(value, int | float) and not isinstance(value, bool) for value in met):
        return Kind.NUMBER
    return Kind.TEXT if met and all(isinstance(value, str) for value in met) else Kind.OTHER
