"""Database: which database was meant, how it is shown, and where a statement on it is found again.

A password goes into the target of a job and nowhere else: no setting, locator, title or error holds one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Self
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from marchwarden.errors import InvalidInput
from marchwarden.researchers.database.allowed_sql import SPOKEN
from marchwarden.researchers.database.jobs import Engine, Target
from marchwarden.text.sanitize import one_line

PASSWORD: Final = "PGPASSWORD"  # noqa: S105 - the variable's name
USER: Final = "PGUSER"
_FILES: Final = {"sqlite": Engine.SQLITE, "duckdb": Engine.DUCKDB}
_SERVERS: Final = frozenset({"postgres", "postgresql"})
_DRIVERS: Final = {Engine.DUCKDB: "duckdb", Engine.POSTGRES: "pg8000", Engine.OTHER: "sqlalchemy"}
# What a URL may say beside its place, and still be kept: anything else could be a secret.
_HARMLESS: Final = frozenset({"sslmode", "host", "driver", "charset", "service_name", "warehouse", "role", "schema"})
_SQLITE: Final = b"SQLite format 3\x00"
_DUCKDB: Final = b"DUCK"


@dataclass(frozen=True)
class Asked:
    """What a locator asks: a statement, and what it means in plain words where that is known."""

    sql: str
    reading: str = ""


@dataclass(frozen=True)
class Database:
    """A database as a user named it. `shown` begins its locators; `name` is what people call it."""

    target: Target = field(repr=False)
    shown: str
    name: str

    @classmethod
    def at(cls, given: str | Path, environ: Mapping[str, str]) -> Self:
        """The database of a path or URL; raises `InvalidInput` for what can be none."""
        text = str(given)
        if not text.isprintable():
            raise InvalidInput("a database is named by a path or a URL in printable characters")
        scheme, separator, rest = text.partition("://")
        if not separator:
            database = cls._file(text)
        elif scheme in _FILES:
            database = cls._file(rest.removeprefix("/"), scheme)
        else:
            database = cls._server(text, environ)
        driver = _DRIVERS.get(database.target.engine)
        if driver and find_spec(driver) is None:
            raise InvalidInput(f"{database.shown} needs {driver}: pip install 'marchwarden[database]'")
        return database

    @classmethod
    def again(cls, address: str, shown: str, environ: Mapping[str, str]) -> Self:
        """The database of an earlier run, shown as it was then, wherever we stand now."""
        return replace(cls.at(address, environ), shown=shown)

    def locator(self, asked: Asked) -> str:
        said = {"query": asked.sql, "reading": asked.reading} if asked.reading else {"query": asked.sql}
        return f"{self.shown}?{urlencode(said, quote_via=quote)}"

    def asked(self, locator: str) -> Asked | None:
        """What a locator of this database asks; nothing where it belongs to another."""
        place, _, query = locator.partition("#")[0].partition("?")
        said = dict(parse_qsl(query))
        known = place == self.shown and bool(said.get("query"))
        return Asked(said["query"], one_line(said.get("reading", ""))) if known else None

    @classmethod
    def _file(cls, path: str, scheme: str = "") -> Self:
        engine = _engine_of(Path(path))
        if scheme and _FILES[scheme] is not engine:
            raise InvalidInput(f"{path} is not a {scheme} database")
        shown = f"{engine}:///{quote(path)}"
        return cls(Target(engine, str(Path(path).resolve())), shown, Path(path).name)

    @classmethod
    def _server(cls, text: str, environ: Mapping[str, str]) -> Self:
        url = _parsed(text)
        dialect = url.scheme.partition("+")[0]
        engine = Engine.POSTGRES if dialect in _SERVERS else Engine.OTHER
        if engine is Engine.OTHER:
            _refuse_unknown(dialect)
        password = unquote(url.password or "") or dict(parse_qsl(url.query)).get("password", "")
        if engine is Engine.POSTGRES:
            password = password or environ.get(PASSWORD, "")
            url = url._replace(scheme="postgresql")
        shown = f"{url.scheme}://{_host(url)}{url.path}"
        user = url.username or (quote(environ.get(USER) or "postgres") if engine is Engine.POSTGRES else "")
        kept = urlencode([(name, value) for name, value in parse_qsl(url.query) if name in _HARMLESS])
        address = f"{url.scheme}://{f'{user}@' if user else ''}{_host(url)}{url.path}{f'?{kept}' if kept else ''}"
        return cls(Target(engine, address, password), shown, unquote(url.path.rpartition("/")[2]))


def _engine_of(path: Path) -> Engine:
    try:
        if not path.is_file():
            raise InvalidInput(f"there is no database file {path}")
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise InvalidInput(f"the database file {path} cannot be read ({error.strerror})") from error
    if start == _SQLITE:
        return Engine.SQLITE
    if start[8:12] == _DUCKDB:
        return Engine.DUCKDB
    raise InvalidInput(f"{path} is neither a SQLite nor a DuckDB database")


def _parsed(text: str) -> SplitResult:
    """The parts of a URL. What is wrong with one is said without repeating it: it may hold a password."""
    try:
        url = urlsplit(text)
        _ = url.port
    except ValueError as error:
        raise InvalidInput("the database's URL cannot be understood: its host or port is malformed") from error
    if not url.path.strip("/"):
        raise InvalidInput("the database's URL names no database: postgresql://user@host:5432/DATABASE")
    return url


def _refuse_unknown(dialect: str) -> None:
    if dialect not in SPOKEN:
        known = ", ".join(sorted({*_FILES, "postgresql", *SPOKEN}))
        raise InvalidInput(f"no database is known by {one_line(dialect, 40)}://; known are {known}")


def _host(url: SplitResult) -> str:
    host = url.hostname or ("localhost" if url.scheme == "postgresql" else "")
    host = f"[{host}]" if ":" in host else host
    port = url.port or (5432 if url.scheme == "postgresql" else None)
    return f"{host}:{port}" if port else host
