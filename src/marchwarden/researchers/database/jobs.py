"""What is asked of the child process that speaks to the database, and what it answers. Plain data, sent as JSON.

Knows no pydantic: the child starts for every statement, and starts quickly.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from marchwarden.researchers.database.models import Schema

Value = str | int | float | bool | None
"""What a cell becomes: whatever JSON can say of it."""


class Engine(StrEnum):
    SQLITE = "sqlite"
    DUCKDB = "duckdb"
    POSTGRES = "postgres"
    OTHER = "other"


class Errand(StrEnum):
    """`SCHEMA`: say what the database is made of. `CHECK`: say whether a statement would be run. `RUN`: run it."""

    SCHEMA = "schema"
    CHECK = "check"
    RUN = "run"


class Reason(StrEnum):
    """Why there is no answer: it may not be done, it cannot be understood, it takes too much, or nobody is there."""

    FORBIDDEN = "forbidden"
    MALFORMED = "malformed"
    TOO_MUCH = "too much"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True)
class Limits:
    """How long a statement may take, how many rows and bytes it may bring, how much memory its process may have."""

    seconds: float = 10.0
    rows: int = 200
    size: int = 1_000_000
    memory: int = 2 << 30
    schema_seconds: float = 20.0


@dataclass(frozen=True)
class Target:
    """Which database. `address` is a path or a URL without its password."""

    engine: Engine
    address: str
    password: str = field(default="", repr=False)


@dataclass(frozen=True)
class Job:
    errand: Errand
    target: Target
    limits: Limits
    sql: str = ""


@dataclass(frozen=True)
class Rows:
    """What a statement gave. `cut`: there were more rows than the limits let through."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    cut: bool = False


@dataclass(frozen=True)
class Refusal:
    detail: str
    reason: Reason


@dataclass(frozen=True)
class Outcome:
    """The answer to a job: what was asked for, or the refusal. `sql` is the statement as it would be run."""

    schema: Schema | None = None
    sql: str = ""
    rows: Rows | None = None
    refusal: Refusal | None = None
    notices: tuple[str, ...] = ()


class Refused(Exception):
    """Something is not done, and why. Never leaves the child: it crosses the pipe as a `Refusal`."""

    def __init__(self, detail: str, reason: Reason = Reason.FORBIDDEN) -> None:
        super().__init__(detail)
        self.detail = detail
        self.reason = reason
