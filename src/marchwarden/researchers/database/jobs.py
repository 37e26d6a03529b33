"""The messages between the researcher and the child process that accesses the database. Sent as JSON.

Does not import pydantic: a child starts for every statement and must start quickly.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from marchwarden.researchers.database.models import Schema

CellValue = str | int | float | bool | None
"""A cell as a JSON value."""


class Engine(StrEnum):
    SQLITE = "sqlite"
    DUCKDB = "duckdb"
    POSTGRES = "postgres"
    OTHER = "other"


class JobKind(StrEnum):
    """`SCHEMA` reads the schema, `CHECK` checks whether a statement is allowed, `RUN` runs it."""

    SCHEMA = "schema"
    CHECK = "check"
    RUN = "run"


class Reason(StrEnum):
    """Why a job failed: not allowed, not valid SQL, over a limit, or the database cannot be reached."""

    FORBIDDEN = "forbidden"
    MALFORMED = "malformed"
    TOO_MUCH = "too much"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True)
class QueryLimits:
    """Limits for one statement: time, rows and characters of the result, and memory of its process."""

    seconds: float = 10.0
    rows: int = 200
    size: int = 1_000_000
    memory: int = 2 << 30
    schema_seconds: float = 20.0


@dataclass(frozen=True)
class Target:
    """The database to access. `address` is a path, or a URL without its password."""

    engine: Engine
    address: str
    password: str = field(default="", repr=False)


@dataclass(frozen=True)
class DatabaseJob:
    kind: JobKind
    target: Target
    limits: QueryLimits
    sql: str = ""


@dataclass(frozen=True)
class ResultRows:
    """The result of a statement. `cut` says that rows over the limits were left out."""

    columns: tuple[str, ...]
    rows: tuple[tuple[CellValue, ...], ...]
    cut: bool = False


@dataclass(frozen=True)
class Refusal:
    detail: str
    reason: Reason


@dataclass(frozen=True)
class JobOutcome:
    """The result of a job, or the reason it failed. `sql` is the statement without comments."""

    schema: Schema | None = None
    sql: str = ""
    rows: ResultRows | None = None
    refusal: Refusal | None = None
    notices: tuple[str, ...] = ()


class QueryRefused(Exception):
    """A job cannot be done. Raised only in the child, which sends it to the parent as a `Refusal`."""

    def __init__(self, detail: str, reason: Reason = Reason.FORBIDDEN) -> None:
        super().__init__(detail)
        self.detail = detail
        self.reason = reason
