"""Database engines: each opens a database read-only, reads its schema and runs statements within a time limit."""

from collections.abc import Sequence
from typing import Protocol

from marchwarden.researchers.database.jobs import Engine, Target
from marchwarden.researchers.database.models import Table


class OpenDatabase(Protocol):
    """A database opened read-only: the second layer of protection. Methods raise only `QueryRefused`."""

    @property
    def dialect(self) -> str: ...

    @property
    def notices(self) -> tuple[str, ...]:
        """Warnings about missing write protection in the engine itself."""
        ...

    def relations(self) -> frozenset[str]:
        """Return the readable tables and views, case folded, each as `name` and as `schema.name`."""
        ...

    def tables(self) -> Sequence[Table]:
        """Return the declared schema without reading any rows."""
        ...

    def rows(self, sql: str, max_rows: int, seconds: float) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
        """Run a statement and return the names of its columns and up to `max_rows` rows."""
        ...

    def quote_name(self, name: str) -> str: ...

    def close(self) -> None: ...


def open_database(target: Target, seconds: float, memory: int) -> OpenDatabase:
    """Open a database. Imports only the driver it needs."""
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


def quote_identifier(name: str) -> str:
    """Quote an identifier as in standard SQL."""
    return '"' + name.replace('"', '""') + '"'
