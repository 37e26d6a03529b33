"""Other databases, through SQLAlchemy. Write protection depends on the engine; a notice says when there is none."""

from collections.abc import Sequence
from typing import Final

import sqlalchemy
from sqlalchemy.exc import DBAPIError, ProgrammingError, SQLAlchemyError

from marchwarden.researchers.database.allowed_sql import SQLGLOT_DIALECTS
from marchwarden.researchers.database.jobs import QueryRefused, Reason, Target
from marchwarden.researchers.database.models import Column, Reference, Table, kind_from_type

_GUARDS: Final = {
    "mysql": ("SET SESSION TRANSACTION READ ONLY", "SET SESSION max_execution_time = {milliseconds}"),
    "mariadb": ("SET SESSION TRANSACTION READ ONLY", "SET SESSION max_statement_time = {seconds}"),
    "oracle": ("SET TRANSACTION READ ONLY",),
    "sqlite": ("PRAGMA query_only = ON",),
}
_UNGUARDED_NOTICE: Final = "this engine is not set to read-only; use a database user that may only SELECT"
MAX_TABLES: Final = 500


class AlchemyDatabase:
    """A database accessed through SQLAlchemy. Its transaction is always rolled back."""

    def __init__(self, target: Target, seconds: float) -> None:
        try:
            url = sqlalchemy.make_url(target.address)
            url = url.set(password=target.password) if target.password else url
            self._engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.pool.NullPool)
            self._connection = self._engine.connect()
            self._guard(seconds)
            self._names = self._list_tables()
        except (SQLAlchemyError, ImportError) as error:
            raise _translate_error(error) from error

    @property
    def dialect(self) -> str:
        return SQLGLOT_DIALECTS[self._engine.dialect.name]

    @property
    def notices(self) -> tuple[str, ...]:
        return () if self._engine.dialect.name in _GUARDS else (_UNGUARDED_NOTICE,)

    def relations(self) -> frozenset[str]:
        return frozenset(name.casefold() for name in self._names)

    def tables(self) -> Sequence[Table]:
        try:
            inspector = sqlalchemy.inspect(self._connection)
            return [_describe_table(inspector, name) for name in self._names]
        except SQLAlchemyError as error:
            raise _translate_error(error) from error

    def rows(self, sql: str, max_rows: int, seconds: float) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
        try:
            # Not with `sqlalchemy.text`, which treats a colon as a parameter.
            found = self._connection.execution_options(stream_results=True).exec_driver_sql(sql)
            with found:
                return [*found.keys()], [tuple(row) for row in found.fetchmany(max_rows)]
        except SQLAlchemyError as error:
            raise _translate_error(error) from error

    def quote_name(self, name: str) -> str:
        return str(self._engine.dialect.identifier_preparer.quote_identifier(name))

    def close(self) -> None:
        self._connection.rollback()
        self._connection.close()

    def _guard(self, seconds: float) -> None:
        for guard in _GUARDS.get(self._engine.dialect.name, ()):
            self._connection.exec_driver_sql(guard.format(milliseconds=round(seconds * 1000), seconds=seconds))

    def _list_tables(self) -> list[str]:
        inspector = sqlalchemy.inspect(self._connection)
        return [*inspector.get_table_names(), *inspector.get_view_names()][:MAX_TABLES]


def _describe_table(inspector: sqlalchemy.Inspector, name: str) -> Table:
    keys = set(inspector.get_pk_constraint(name)["constrained_columns"])
    references = [
        Reference(own, str(key["referred_table"]), target)
        for key in inspector.get_foreign_keys(name)
        for own, target in zip(key["constrained_columns"], key["referred_columns"], strict=False)
    ]
    columns = [
        Column(
            str(column["name"]),
            kind_from_type(str(column["type"])),
            str(column["type"]),
            str(column.get("comment") or ""),
            column["name"] in keys,
        )
        for column in inspector.get_columns(name)
    ]
    return Table(name, tuple(columns), tuple(references))


def _translate_error(error: SQLAlchemyError | ImportError) -> QueryRefused:
    if isinstance(error, DBAPIError):
        # The message of the driver: SQLAlchemy's own message repeats the statement.
        malformed = isinstance(error, ProgrammingError)
        return QueryRefused(str(error.orig), Reason.MALFORMED if malformed else Reason.UNREACHABLE)
    return QueryRefused(f"the database cannot be opened ({type(error).__name__})", Reason.UNREACHABLE)
