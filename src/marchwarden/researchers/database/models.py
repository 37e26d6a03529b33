"""The nouns of the database researcher: what a database is made of, and a statement one might run on it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """What sort of thing a column holds, whatever its engine calls it."""

    TEXT = "text"
    NUMBER = "number"
    MOMENT = "moment"
    TRUTH = "truth"
    OTHER = "other"


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


@dataclass(frozen=True)
class Column:
    """One column. `values` are some of the different values in it; all of them where `complete`."""

    name: str
    kind: Kind = Kind.TEXT
    declared: str = ""
    comment: str = ""
    is_key: bool = False
    values: tuple[str, ...] = ()
    complete: bool = False


@dataclass(frozen=True)
class Reference:
    """A foreign key: this column holds values of that column of another table."""

    column: str
    table: str
    target: str


@dataclass(frozen=True)
class Table:
    name: str
    columns: tuple[Column, ...]
    references: tuple[Reference, ...] = ()
    comment: str = ""
    rows: int | None = None

    def column(self, name: str) -> Column | None:
        return next((each for each in self.columns if each.name.casefold() == name.casefold()), None)


@dataclass(frozen=True)
class Schema:
    """What a database is made of. `dialect` is the name its SQL goes by: sqlite, duckdb, postgres."""

    dialect: str
    tables: tuple[Table, ...]

    def table(self, name: str) -> Table | None:
        return next((each for each in self.tables if each.name.casefold() == name.casefold()), None)


@dataclass(frozen=True)
class Statement:
    """One SELECT, what it asks for in plain words ("the number of customers whose country is Brazil"), and how surely
    it is what a question wanted (0 to 1).
    """

    sql: str
    reading: str
    score: float = 1.0
