"""The engines: each opens a database so that it can only be read, says what is in it, and runs a statement in time."""

from collections.abc import Sequence
from typing import Protocol

from marchwarden.researchers.database.jobs import Engine, Target
from marchwarden.researchers.database.models import Table


class Opened(Protocol):
    """A database that was opened for reading: the second wall. Raises `Refused` and nothing else."""

    @property
    def dialect(self) -> str: ...

    @property
    def notices(self) -> tuple[str, ...]:
        """What whoever reads the answers should know about how far the engine itself guards them."""
        ...

    def relations(self) -> frozenset[str]:
        """The tables and views that may be read, case folded, each as `name` and as `schema.name`."""
        ...

    def tables(self) -> Sequence[Table]:
        """What the database says of itself, without looking into the tables."""
        ...

    def rows(self, sql: str, most: int, seconds: float) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
        """The names of the columns, and at most so many rows."""
        ...

    def quoted(self, name: str) -> str: ...

    def close(self) -> None: ...


def opened(target: Target, seconds: float, memory: int) -> Opened:
    """The database of a target. Its driver is imported only now: most databases need none of the others'."""
    match target.engine:
        case Engine.SQLITE:
            from marchwarden.researchers.database.engines.sqlite import SqliteFile

            return SqliteFile(target.address, memory)
        case Engine.DUCKDB:
            from marchwarden.researchers.database.engines.duckdb import DuckdbFile

            return DuckdbFile(target.address, memory)
        case Engine.POSTGRES:
            from marchwarden.researchers.database.engines.postgres import PostgresServer

            return PostgresServer(target, seconds)
        case Engine.OTHER:
            from marchwarden.researchers.database.engines.sqlalchemy import AlchemyDatabase

            return AlchemyDatabase(target, seconds)


def quoted_name(name: str) -> str:
    """An identifier as standard SQL writes it."""
    return '"' + name.replace('"', '""') + '"'
