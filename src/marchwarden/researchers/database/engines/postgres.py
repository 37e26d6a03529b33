"""PostgreSQL: every statement runs in its own read-only transaction, through a cursor, with a server-side timeout and
not as a superuser.
"""

import ssl
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Final
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from pg8000.exceptions import DatabaseError, Error
from pg8000.native import Connection

from marchwarden.researchers.database.engines import quote_identifier
from marchwarden.researchers.database.jobs import QueryRefused, Reason, Target
from marchwarden.researchers.database.models import Column, ColumnKind, Reference, Table, kind_from_type

PORT: Final = 5432
ANSWERING_SECONDS: Final = 0.5
"""Extra time for the server to report its own timeout, which is clearer than a broken connection."""
_READ_ONLY_ROLE: Final = "pg_read_all_data"
_SUPERUSER_NOTICE: Final = (
    "connected as a superuser, which a read-only transaction does not fully restrict; use a role that may only SELECT"
)
_KINDS: Final = {
    "N": ColumnKind.NUMBER,
    "S": ColumnKind.TEXT,
    "E": ColumnKind.TEXT,
    "D": ColumnKind.DATETIME,
    "B": ColumnKind.BOOLEAN,
}
# SQLSTATEs, or the classes they begin with.
_REASONS: Final = {
    "25006": Reason.FORBIDDEN,
    "42501": Reason.FORBIDDEN,
    "57014": Reason.TOO_MUCH,
    "53": Reason.TOO_MUCH,
    "54": Reason.TOO_MUCH,
    "0A": Reason.FORBIDDEN,
    "22": Reason.MALFORMED,
    "42": Reason.MALFORMED,
}


class PostgresServer:
    dialect: Final = "postgres"

    def __init__(self, target: Target, seconds: float) -> None:
        self.notices: tuple[str, ...] = ()
        try:
            self._connection = _connect(target, seconds)
            self._run("SET default_transaction_read_only = on")
            self._run(_NOTICE_A_DEAD_CLIENT)
            self._drop_superuser()
            self._relations = self._run(_TABLES)
            self._set_search_path()
        except (Error, OSError) as error:
            raise _translate_error(error) from error

    def relations(self) -> frozenset[str]:
        names = [(str(row[1]).casefold(), str(row[2]).casefold()) for row in self._relations]
        return frozenset([*(name for _, name in names), *(f"{schema}.{name}" for schema, name in names)])

    def tables(self) -> Sequence[Table]:
        try:
            columns, references = self._columns(), self._references()
        except (Error, OSError) as error:
            raise _translate_error(error) from error
        unique = {str(name): (id_, str(comment or "")) for id_, _, name, comment in reversed(self._relations)}
        described = [
            Table(name, tuple(columns[id_]), tuple(references[id_]), comment) for name, (id_, comment) in unique.items()
        ]
        return described[::-1]

    def rows(self, sql: str, max_rows: int, seconds: float) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
        deadline = time.monotonic() + seconds
        try:
            self._run("BEGIN TRANSACTION READ ONLY")
            try:
                self._set_timeout(deadline)
                # A cursor can be declared only for a single statement that returns rows and writes nothing.
                self._run(f"DECLARE answer NO SCROLL CURSOR FOR {sql}")
                self._set_timeout(deadline)
                fetched = self._connection.execute_unnamed(f"FETCH FORWARD {max_rows} FROM answer")
            finally:
                self._run("ROLLBACK")
        except (Error, OSError) as error:
            raise _translate_error(error) from error
        return [str(column["name"]) for column in fetched.columns], fetched.rows

    def quote_name(self, name: str) -> str:
        return quote_identifier(name)

    def close(self) -> None:
        self._connection.close()

    def _run(self, sql: str) -> list[list[object]]:
        """Run a prepared statement, which cannot contain a second one."""
        rows: list[list[object]] = self._connection.execute_unnamed(sql).rows or []
        return rows

    def _set_timeout(self, deadline: float) -> None:
        milliseconds = max(round((deadline - time.monotonic()) * 1000), 1)
        self._run(f"SET LOCAL statement_timeout = {milliseconds}")
        self._run(f"SET LOCAL lock_timeout = {milliseconds}")

    def _drop_superuser(self) -> None:
        """Switch from a superuser to a role that can only read, if the server has one."""
        if not self._run("SELECT 1 FROM pg_roles WHERE rolname = current_user AND rolsuper"):
            return
        if self._run(f"SELECT 1 FROM pg_roles WHERE rolname = '{_READ_ONLY_ROLE}'"):  # noqa: S608 - a constant
            self._run(f"SET ROLE {_READ_ONLY_ROLE}")
        else:
            self.notices = (_SUPERUSER_NOTICE,)

    def _set_search_path(self) -> None:
        """Make the tables of all schemas available by their bare names."""
        schemas = dict.fromkeys(str(row[1]) for row in self._relations)
        if schemas:
            self._run(f"SET search_path = {', '.join(map(quote_identifier, schemas))}")

    def _columns(self) -> dict[object, list[Column]]:
        columns: dict[object, list[Column]] = defaultdict(list)
        for table, name, declared, category, comment, is_key in self._run(_COLUMNS):
            kind = _KINDS.get(str(category)) or kind_from_type(str(declared))
            columns[table].append(Column(str(name), kind, str(declared), str(comment or ""), bool(is_key)))
        return columns

    def _references(self) -> dict[object, list[Reference]]:
        references: dict[object, list[Reference]] = defaultdict(list)
        for table, column, other, target in self._run(_REFERENCES):
            references[table].append(Reference(str(column), str(other), str(target)))
        return references


_NOTICE_A_DEAD_CLIENT: Final = """
    SELECT set_config(name, '1s', false) FROM pg_settings WHERE name = 'client_connection_check_interval'
"""
# Foreign tables are left out: reading one accesses a file or another server.
_TABLES: Final = """
    SELECT c.oid, n.nspname, c.relname, obj_description(c.oid, 'pg_class')
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'v', 'm', 'p') AND NOT c.relispartition
      AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
      AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
    ORDER BY n.nspname <> 'public', n.nspname, c.relname LIMIT 500
"""
_COLUMNS: Final = """
    SELECT a.attrelid, a.attname, format_type(a.atttypid, a.atttypmod), t.typcategory,
      col_description(a.attrelid, a.attnum),
      EXISTS (SELECT 1 FROM pg_catalog.pg_constraint k
              WHERE k.conrelid = a.attrelid AND k.contype = 'p' AND a.attnum = ANY (k.conkey))
    FROM pg_catalog.pg_attribute a
    JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'm', 'p')
      AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
    ORDER BY a.attrelid, a.attnum
"""
_REFERENCES: Final = """
    SELECT k.conrelid, a.attname, c.relname, b.attname
    FROM pg_catalog.pg_constraint k
    CROSS JOIN LATERAL unnest(k.conkey, k.confkey) AS pair (own, other)
    JOIN pg_catalog.pg_class c ON c.oid = k.confrelid
    JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = pair.own
    JOIN pg_catalog.pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = pair.other
    WHERE k.contype = 'f' ORDER BY k.conrelid, a.attnum
"""


def _connect(target: Target, seconds: float) -> Connection:
    url = urlsplit(target.address)
    port = url.port or PORT
    options = parse_qs(url.query)
    folder = options.get("host", [""])[0]
    return Connection(
        unquote(url.username or ""),
        host=url.hostname or "localhost",
        port=port,
        database=unquote(url.path.lstrip("/")),
        password=target.password or None,
        unix_sock=f"{folder}/.s.PGSQL.{port}" if folder.startswith("/") else None,
        ssl_context=_ssl_context(url),
        timeout=seconds + ANSWERING_SECONDS,
        application_name="marchwarden",
    )


def _ssl_context(url: SplitResult) -> ssl.SSLContext | bool | None:
    """Apply `sslmode` like libpq. `require` does not verify the certificate; the default uses TLS if offered."""
    match parse_qs(url.query).get("sslmode", ["prefer"])[0]:
        case "disable":
            return False
        case "require":
            return True
        case "verify-full" | "verify-ca":
            return ssl.create_default_context()
        case _:
            return None


def _translate_error(error: Error | OSError) -> QueryRefused:
    if isinstance(error, DatabaseError) and error.args and isinstance(error.args[0], dict):
        state, message = str(error.args[0].get("C", "")), str(error.args[0].get("M", ""))
        return QueryRefused(message, _REASONS.get(state) or _REASONS.get(state[:2]) or Reason.UNREACHABLE)
    return QueryRefused(str(error), Reason.UNREACHABLE)
