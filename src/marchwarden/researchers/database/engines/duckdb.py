"""DuckDB: opened read-only, without access to files, network or extensions, and with a locked configuration."""

import threading
from collections.abc import Sequence
from typing import Final

import duckdb

from marchwarden.researchers.database.engines import quote_identifier
from marchwarden.researchers.database.jobs import QueryRefused, Reason
from marchwarden.researchers.database.models import Column, Reference, Table, kind_from_type

_FORBIDDEN: Final = (duckdb.PermissionException,)
_MALFORMED: Final = (duckdb.ProgrammingError, duckdb.DataError, duckdb.NotSupportedError)
_TOO_MUCH: Final = (duckdb.InterruptException, duckdb.OutOfMemoryException)


class DuckdbFile:
    dialect: Final = "duckdb"
    notices: Final = ()

    def __init__(self, path: str, memory: int) -> None:
        config: dict[str, str | bool | int | float | list[str]] = {
            "enable_external_access": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "python_enable_replacements": "false",
            "memory_limit": f"{memory // 4}B",
            "threads": "1",
            "temp_directory": "",
        }
        try:
            self._connection = duckdb.connect(path, read_only=True, config=config)
            self._relations = self._connection.execute(_TABLES).fetchall()
            self._set_search_path()
            self._connection.execute("SET lock_configuration = true")
        except duckdb.Error as error:
            raise _translate_error(error) from error

    def relations(self) -> frozenset[str]:
        names = [(schema.casefold(), name.casefold()) for schema, name, _ in self._relations]
        return frozenset([*(name for _, name in names), *(f"{schema}.{name}" for schema, name in names)])

    def tables(self) -> Sequence[Table]:
        try:
            return [self._describe_table(*found) for found in self._relations]
        except duckdb.Error as error:
            raise _translate_error(error) from error

    def rows(self, sql: str, max_rows: int, seconds: float) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
        watchdog = threading.Timer(seconds, self._connection.interrupt)
        watchdog.daemon = True
        watchdog.start()
        try:
            self._refuse_all_but_select(sql)
            cursor = self._connection.execute(sql)
            found = cursor.fetchmany(max_rows)
            return [str(each[0]) for each in cursor.description or ()], found
        except duckdb.Error as error:
            raise _translate_error(error) from error
        finally:
            watchdog.cancel()

    def quote_name(self, name: str) -> str:
        return quote_identifier(name)

    def close(self) -> None:
        self._connection.close()

    def _refuse_all_but_select(self, sql: str) -> None:
        statements = self._connection.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise QueryRefused("expected exactly one SELECT")

    def _set_search_path(self) -> None:
        """Make the tables of all schemas available by their bare names."""
        schemas = dict.fromkeys(["main", *(schema for schema, _, _ in self._relations)])
        path = ",".join(quote_identifier(schema) for schema in schemas).replace("'", "''")
        self._connection.execute(f"SET search_path = '{path}'")

    def _describe_table(self, schema: str, name: str, comment: str | None) -> Table:
        constraints = self._connection.execute(_CONSTRAINTS, (schema, name)).fetchall()
        keys = {column for kind, own, _, _ in constraints if kind == "PRIMARY KEY" for column in own}
        references = [
            Reference(column, table, target)
            for kind, own, table, targets in constraints
            if kind == "FOREIGN KEY"
            for column, target in zip(own, targets, strict=False)
        ]
        columns = self._connection.execute(_COLUMNS, (schema, name)).fetchall()
        return Table(
            name,
            tuple(
                Column(column, kind_from_type(type_), type_, column_comment or "", column in keys)
                for column, type_, column_comment in columns
            ),
            tuple(references),
            comment or "",
        )


_TABLES: Final = """
    SELECT schema_name, table_name, comment FROM duckdb_tables()
    WHERE NOT internal AND database_name = current_database()
    UNION ALL
    SELECT schema_name, view_name, comment FROM duckdb_views()
    WHERE NOT internal AND database_name = current_database()
    LIMIT 500
"""
_COLUMNS: Final = """
    SELECT column_name, data_type, comment FROM duckdb_columns()
    WHERE schema_name = ? AND table_name = ? AND database_name = current_database() ORDER BY column_index
"""
_CONSTRAINTS: Final = """
    SELECT constraint_type, constraint_column_names, referenced_table, referenced_column_names FROM duckdb_constraints()
    WHERE schema_name = ? AND table_name = ? AND database_name = current_database()
"""


def _translate_error(error: duckdb.Error) -> QueryRefused:
    first_line = str(error).partition("\n")[0]
    if isinstance(error, _FORBIDDEN):
        return QueryRefused(first_line)
    if isinstance(error, _TOO_MUCH):
        return QueryRefused("the statement takes too much time or memory", Reason.TOO_MUCH)
    return QueryRefused(first_line, Reason.MALFORMED if isinstance(error, _MALFORMED) else Reason.UNREACHABLE)
