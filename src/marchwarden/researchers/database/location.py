"""Parse the path or URL of a database, and build and parse the locators of statements on it.

A password is only stored in the target of a job, never in a setting, locator, title or error message.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Self
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from marchwarden.errors import InvalidInput
from marchwarden.researchers.database.allowed_sql import SQLGLOT_DIALECTS
from marchwarden.researchers.database.jobs import Engine, Target
from marchwarden.text.sanitize import one_line, quotable_line

PASSWORD: Final = "PGPASSWORD"  # noqa: S105 - the variable's name
USER: Final = "PGUSER"
_FILES: Final = {"sqlite": Engine.SQLITE, "duckdb": Engine.DUCKDB}
_SERVERS: Final = frozenset({"postgres", "postgresql"})
_DRIVERS: Final = {Engine.DUCKDB: "duckdb", Engine.POSTGRES: "pg8000", Engine.OTHER: "sqlalchemy"}
# URL options that are stored in a trace. Any other could be a secret.
_SAFE_OPTIONS: Final = frozenset(
    {"sslmode", "host", "driver", "charset", "service_name", "warehouse", "role", "schema"}
)
_SQLITE: Final = b"SQLite format 3\x00"
_DUCKDB: Final = b"DUCK"


@dataclass(frozen=True)
class DatabaseQuery:
    """The content of a locator: a statement and, if known, its meaning in plain words."""

    sql: str
    reading: str = ""


@dataclass(frozen=True)
class Database:
    """A database as the user named it. `shown` is the start of its locators, `name` a short name for messages."""

    target: Target = field(repr=False)
    shown: str
    name: str

    @classmethod
    def at(cls, given: str | Path, environ: Mapping[str, str]) -> Self:
        """Parse a path or URL. Raises `InvalidInput` if it does not name a database."""
        text = str(given)
        if not text.isprintable():
            raise InvalidInput("the path or URL of a database may only contain printable characters")
        scheme, separator, rest = text.partition("://")
        if not separator:
            database = cls._from_file(text)
        elif scheme in _FILES:
            database = cls._from_file(rest.removeprefix("/"), scheme)
        else:
            database = cls._from_url(text, environ)
        driver = _DRIVERS.get(database.target.engine)
        if driver and find_spec(driver) is None:
            raise InvalidInput(f"{database.shown} needs {driver}: pip install 'marchwarden[database]'")
        return database

    @classmethod
    def from_trace(cls, address: str, shown: str, environ: Mapping[str, str]) -> Self:
        """Rebuild the database of an earlier run, with the same locators in any working directory."""
        return replace(cls.at(address, environ), shown=shown)

    def locator(self, query: DatabaseQuery) -> str:
        parameters = {"query": query.sql, "reading": query.reading} if query.reading else {"query": query.sql}
        return f"{self.shown}?{urlencode(parameters, quote_via=quote)}"

    def parse_locator(self, locator: str) -> DatabaseQuery | None:
        """Return the statement of a locator, or None if it belongs to another database."""
        address, _, query = locator.partition("#")[0].partition("?")
        parameters = dict(parse_qsl(query))
        if address != self.shown or not parameters.get("query"):
            return None
        return DatabaseQuery(parameters["query"], quotable_line(parameters.get("reading", "")))

    @classmethod
    def _from_file(cls, path: str, scheme: str = "") -> Self:
        engine = _engine_of(Path(path))
        if scheme and _FILES[scheme] is not engine:
            raise InvalidInput(f"{path} is not a {scheme} database")
        shown = f"{engine}:///{quote(path)}"
        return cls(Target(engine, str(Path(path).resolve())), shown, Path(path).name)

    @classmethod
    def _from_url(cls, text: str, environ: Mapping[str, str]) -> Self:
        url = _parse_url(text)
        dialect = url.scheme.partition("+")[0]
        engine = Engine.POSTGRES if dialect in _SERVERS else Engine.OTHER
        if engine is Engine.OTHER:
            _check_dialect(dialect)
        password = unquote(url.password or "") or dict(parse_qsl(url.query)).get("password", "")
        if engine is Engine.POSTGRES:
            password = password or environ.get(PASSWORD, "")
            url = url._replace(scheme="postgresql")
        shown = f"{url.scheme}://{_host_and_port(url)}{url.path}"
        user = url.username or (quote(environ.get(USER) or "postgres") if engine is Engine.POSTGRES else "")
        options = urlencode([(name, value) for name, value in parse_qsl(url.query) if name in _SAFE_OPTIONS])
        user_part, options_part = f"{user}@" if user else "", f"?{options}" if options else ""
        address = f"{url.scheme}://{user_part}{_host_and_port(url)}{url.path}{options_part}"
        return cls(Target(engine, address, password), shown, unquote(url.path.rpartition("/")[2]))


def _engine_of(path: Path) -> Engine:
    try:
        if not path.is_file():
            raise InvalidInput(f"no such database file: {path}")
        with path.open("rb") as file:
            header = file.read(16)
    except OSError as error:
        raise InvalidInput(f"cannot read the database file {path}: {error.strerror}") from error
    if header == _SQLITE:
        return Engine.SQLITE
    if header[8:12] == _DUCKDB:
        return Engine.DUCKDB
    raise InvalidInput(f"{path} is neither a SQLite nor a DuckDB database")


def _parse_url(text: str) -> SplitResult:
    """Split a URL. Errors do not repeat it, because it may contain a password."""
    try:
        url = urlsplit(text)
        _ = url.port
    except ValueError as error:
        raise InvalidInput("invalid database URL: the host or port is malformed") from error
    if not url.path.strip("/"):
        raise InvalidInput("invalid database URL: no database name, as in postgresql://user@host:5432/DATABASE")
    return url


def _check_dialect(dialect: str) -> None:
    if dialect not in SQLGLOT_DIALECTS:
        known = ", ".join(sorted({*_FILES, "postgresql", *SQLGLOT_DIALECTS}))
        raise InvalidInput(f"unknown database type {one_line(dialect, 40)}://; supported types: {known}")


def _host_and_port(url: SplitResult) -> str:
    host = url.hostname or ("localhost" if url.scheme == "postgresql" else "")
    host = f"[{host}]" if ":" in host else host
    port = url.port or (5432 if url.scheme == "postgresql" else None)
    return f"{host}:{port}" if port else host
