"""The nouns of the database researcher: what a database is made of, and a statement one might run on it."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What sort of thing a column holds, whatever its engine calls it."""

    TEXT = "text"
    NUMBER = "number"
    MOMENT = "moment"
    TRUTH = "truth"
    OTHER = "other"


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
