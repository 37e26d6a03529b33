"""PostgreSQL: every statement alone in a transaction that can only read, through a cursor, under the server's own
timeout, as a role that is no superuser.
"""

import ssl
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Final
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from pg8000.exceptions import DatabaseError, Error
from pg8000.native import Connection

from marchwarden.researchers.database.engines import quoted_name
from marchwarden.researchers.database.jobs import Reason, Refused, Target
from marchwarden.researchers.database.models import Column, Kind, Reference, Table, kind_of

PORT: Final = 5432
ANSWERING_SECONDS: Final = 0.5
"""What a server may take to say that a statement was stopped: its own word is better than a broken connection."""
_ONLY_READS: Final = "pg_read_all_data"
_SUPERUSER: Final = (
    "the database is read as a superuser, whom a read-only transaction does not bind in everything; "
    "give a role that may only SELECT"
)
_KINDS: Final = {"N": Kind.NUMBER, "S": Kind.TEXT, "E": Kind.TEXT, "D": Kind.MOMENT, "B": Kind.TRUTH}
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
    """One database of a server."""

    dialect: Final = "postgres"

    def __init__(self, target: Target, seconds: float) -> None:
        self.notices: tuple[str, ...] = ()
        try:
            self._connection = _connected(target, seconds)
            self._run("SET default_transaction_read_only = on")
            self._run(_NOTICE_A_DEAD_CLIENT)
            self._step_down()
            self._found = self._run(_TABLES)
            self._open_schemas()
        except (Error, OSError) as error:
            raise _refused(error) from error

    def relations(self) -> frozenset[str]:
        names = [(str(row[1]).casefold(), str(row[2]).casefold()) for row in self._found]
        return frozenset([*(name for _, name in names), *(f"{schema}.{name}" for schema, name in names)])

    def tables(self) -> Sequence[Table]:
        try:
            columns, references = self._columns(), self._references()
        except (Error, OSError) as error:
            raise _refused(error) from error
        unique = {str(name): (id_, str(comment or "")) for id_, _, name, comment in reversed(self._found)}
        described = [
            Table(name, tuple(columns[id_]), tuple(references[id_]), comment) for name, (id_, comment) in unique.items()
        ]
        return described[::-1]

    def rows(self, sql: str, most: int, seconds: float) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
        until = time.monotonic() + seconds
        try:
            self._run("BEGIN TRANSACTION READ ONLY")
            try:
                self._within(until)
                # Only what returns rows and writes none can be declared, and only one of it.
                self._run(f"DECLARE answer NO SCROLL CURSOR FOR {sql}")
                self._within(until)
                fetched = self._connection.execute_unnamed(f"FETCH FORWARD {most} FROM answer")
            finally:
                self._run("ROLLBACK")
        except (Error, OSError) as error:
            raise _refused(error) from error
        return [str(column["name"]) for column in fetched.columns], fetched.rows

    def quoted(self, name: str) -> str:
        return quoted_name(name)

    def close(self) -> None:
        self._connection.close()

    def _run(self, sql: str) -> list[list[object]]:
        """Prepared, so that it cannot be two statements."""
        rows: list[list[object]] = self._connection.execute_unnamed(sql).rows or []
        return rows

    def _within(self, until: float) -> None:
        left = max(round((until - time.monotonic()) * 1000), 1)
        self._run(f"SET LOCAL statement_timeout = {left}")
        self._run(f"SET LOCAL lock_timeout = {left}")

    def _step_down(self) -> None:
        """A superuser takes a role that may read everything and do nothing else, where the server has one."""
        if not self._run("SELECT 1 FROM pg_roles WHERE rolname = current_user AND rolsuper"):
            return
        if self._run(f"SELECT 1 FROM pg_roles WHERE rolname = '{_ONLY_READS}'"):  # noqa: S608 - a constant
            self._run(f"SET ROLE {_ONLY_READS}")
        else:
            self.notices = (_SUPERUSER,)

    def _open_schemas(self) -> None:
        """Let a table be called by its bare name, whichever schema it is in."""
        schemas = dict.fromkeys(str(row[1]) for row in self._found)
        if schemas:
            self._run(f"SET search_path = {', '.join(map(quoted_name, schemas))}")

    def _columns(self) -> dict[object, list[Column]]:
        columns: dict[object, list[Column]] = defaultdict(list)
        for table, name, declared, category, comment, is_key in self._run(_COLUMNS):
            kind = _KINDS.get(str(category)) or kind_of(str(declared))
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
# Foreign tables are left out: reading one is reading a file, or asking another server.
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


def _connected(target: Target, seconds: float) -> Connection:
    url = urlsplit(target.address)
    port = url.port or PORT
    asked = parse_qs(url.query)
    folder = asked.get("host", [""])[0]
    return Connection(
        unquote(url.username or ""),
        host=url.hostname or "localhost",
        port=port,
        database=unquote(url.path.lstrip("/")),
        password=target.password or None,
        unix_sock=f"{folder}/.s.PGSQL.{port}" if folder.startswith("/") else None,
        ssl_context=_secured(url),
        timeout=seconds + ANSWERING_SECONDS,
        application_name="marchwarden",
    )


def _secured(url: SplitResult) -> ssl.SSLContext | bool | None:
    """As libpq means it: `disable`, `require` without looking at the certificate, `verify-full`; else if it offers."""
    match parse_qs(url.query).get("sslmode", ["prefer"])[0]:
        case "disable":
            return False
        case "require":
            return True
        case "verify-full" | "verify-ca":
            return ssl.create_default_context()
        case _:
            return None


def _refused(error: Error | OSError) -> Refused:
    if isinstance(error, DatabaseError) and error.args and isinstance(error.args[0], dict):
        state, said = str(error.args[0].get("C", "")), str(error.args[0].get("M", ""))
        return Refused(said, _REASONS.get(state) or _REASONS.get(state[:2]) or Reason.UNREACHABLE)
    return Refused(str(error), Reason.UNREACHABLE)
