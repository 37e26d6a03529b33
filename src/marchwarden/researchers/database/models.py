"""Data types of the database researcher: the schema of a database, and a statement on it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class ColumnKind(StrEnum):
    """The kind of values in a column, independent of the engine. The values appear in the prompts of minds."""

    TEXT = "text"
    NUMBER = "number"
    DATETIME = "moment"
    BOOLEAN = "truth"
    OTHER = "other"


_KINDS: Final = (
    (ColumnKind.BOOLEAN, re.compile(r"\bbool(?:ean)?\b")),
    (ColumnKind.DATETIME, re.compile(r"\b(?:date|datetime|time|timetz|timestamp|timestamptz|year)\w*")),
    (
        ColumnKind.NUMBER,
        re.compile(
            r"\b(?:u?(?:tiny|small|medium|big|huge)?int(?:eger)?\d*|numeric|number|decimal|dec|real|float\d*|double|money"
            r"|(?:small|big)?serial\d*|currency)\b"
        ),
    ),
    (
        ColumnKind.TEXT,
        re.compile(r"\b(?:\w*char\w*|character|\w*text|n?clob|string|uuid|name|enum|bpchar|citext|url|email)\b"),
    ),
)


def kind_from_type(declared: str) -> ColumnKind:
    """Return the kind of a declared type; OTHER for arrays, JSON, binary and unknown types."""
    name = declared.casefold().replace("_", " ")
    if name.endswith("]"):
        return ColumnKind.OTHER
    return next((kind for kind, words in _KINDS if words.search(name)), ColumnKind.OTHER)


def kind_from_values(values: Sequence[object]) -> ColumnKind:
    """Return the kind of a column without a declared type, from some of its values."""
    given = [value for value in values if value is not None]
    if given and all(isinstance(value, int | float) and not isinstance(value, bool) for value in given):
        return ColumnKind.NUMBER
    return ColumnKind.TEXT if given and all(isinstance(value, str) for value in given) else ColumnKind.OTHER


@dataclass(frozen=True)
class Column:
    """One column. `values` are some of its distinct values, or all of them if `complete`."""

    name: str
    kind: ColumnKind = ColumnKind.TEXT
    declared: str = ""
    comment: str = ""
    is_key: bool = False
    values: tuple[str, ...] = ()
    complete: bool = False


@dataclass(frozen=True)
class Reference:
    """A foreign key: `column` refers to the column `target` of another table."""

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
    """The tables of a database. `dialect` is sqlglot's name for its SQL: sqlite, duckdb, postgres."""

    dialect: str
    tables: tuple[Table, ...]

    def table(self, name: str) -> Table | None:
        return next((each for each in self.tables if each.name.casefold() == name.casefold()), None)


@dataclass(frozen=True)
class SqlStatement:
    """One SELECT. `reading` is its meaning in plain words ("the number of customers whose country is Brazil"), `score`
    how likely it is what the question asks for (0 to 1).
    """

    sql: str
    reading: str
    score: float = 1.0
