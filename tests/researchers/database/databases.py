"""Small test databases with the same few tables in every engine."""

import hashlib
import os
import pwd
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
from pg8000.native import Connection

from marchwarden.researchers.database.jobs import Engine, Target

PASSWORD = "open%sesame/9"
CUSTOMERS = (
    (1, "Ana Lima", "Brazil", 120.5),
    (2, "Bruno Reis", "Brazil", 80.0),
    (3, "Carol Hart", "Canada", 42.25),
    (4, "Dora Klein", "Germany", None),
)
TABLES = """
    CREATE TABLE customer (
        id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL, country VARCHAR(40), spent DECIMAL(10, 2));
    CREATE TABLE invoice (
        id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (id), dated DATE, paid BOOLEAN);
    CREATE TABLE number (x INTEGER);
    CREATE VIEW rich AS SELECT name FROM customer WHERE spent > 100;
    INSERT INTO customer VALUES {customers};
    INSERT INTO invoice VALUES (1, 1, '2024-05-01', true), (2, 3, '2024-06-30', false);
"""


def tables() -> str:
    rows = ", ".join(f"({id_}, '{name}', '{land}', {spent or 'NULL'})" for id_, name, land, spent in CUSTOMERS)
    return TABLES.format(customers=rows)


def numbers(count: int = 300) -> str:
    return f"INSERT INTO number VALUES {', '.join(f'({each})' for each in range(count))};"


def make_sqlite_file(folder: Path, name: str = "shop.sqlite") -> Path:
    path = folder / name
    connection = sqlite3.connect(path)
    connection.executescript(tables() + numbers())
    connection.execute("CREATE TRIGGER noted AFTER INSERT ON customer BEGIN DELETE FROM number; END")
    connection.close()
    return path


def make_duckdb_file(folder: Path, name: str = "shop.duckdb") -> Path:
    path = folder / name
    with duckdb.connect(str(path)) as connection:
        connection.execute(tables() + numbers())
        connection.execute("COMMENT ON COLUMN customer.spent IS 'in dollars'")
        connection.execute("CREATE SCHEMA store; CREATE TABLE store.shelf AS SELECT 7 AS height")
    return path


def fingerprint(folder: Path) -> dict[str, str]:
    """Return the hash of every file in a folder."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@dataclass(frozen=True)
class PostgresInstance:
    """A temporary server with a superuser and a read-only role."""

    port: int
    folder: Path

    def target(self, user: str = "reader", password: str = PASSWORD) -> Target:
        return Target(Engine.POSTGRES, f"postgresql://{user}@127.0.0.1:{self.port}/shop", password)

    def run(self, *statements: str, database: str = "shop") -> list[list[list[object]]]:
        """Run statements as the superuser without any protection and return the rows of each."""
        connection = Connection(
            "postgres", host="127.0.0.1", port=self.port, database=database, password=PASSWORD, timeout=20
        )
        try:
            return [connection.run(sql) or [] for sql in statements]
        finally:
            connection.close()

    def state(self) -> list[list[list[object]]]:
        """Return everything that hostile statements try to change."""
        return self.run(
            "SELECT * FROM customer ORDER BY id",
            "SELECT count(*) FROM number",
            "SELECT last_value, is_called FROM tickets",
            "SELECT relname FROM pg_class WHERE relname NOT LIKE 'pg%' ORDER BY 1",
            "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1",
            "SELECT rolname, rolsuper FROM pg_roles ORDER BY 1",
            "SELECT count(*) FROM pg_largeobject_metadata",
            "SELECT relacl FROM pg_class WHERE relname = 'customer'",
        )

    def busy(self) -> int:
        """Return the number of our statements that the server is still running."""
        sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'marchwarden' AND state = 'active'"
        return int(str(self.run(sql)[0][0][0]))


def postgres_unavailable_reason() -> str:
    """Return why no server can be started on this machine, or an empty string."""
    if not shutil.which("initdb") or not shutil.which("postgres"):
        return "PostgreSQL is not installed"
    if os.geteuid() == 0 and "postgres" not in {each.pw_name for each in pwd.getpwall()}:
        return "PostgreSQL refuses to run as root, and there is no user postgres to run it as"
    return ""


@contextmanager
def start_postgres() -> Iterator[PostgresInstance]:
    folder = Path(tempfile.mkdtemp(prefix="marchwarden-pg-"))
    user = "postgres" if os.geteuid() == 0 else None
    try:
        (folder / "password").write_text(PASSWORD)
        if user:
            shutil.chown(folder, user)
            shutil.chown(folder / "password", user)
        initdb = ["initdb", "-D", "data", "-U", "postgres", "-A", "scram-sha-256", "--pwfile=password"]
        subprocess.run(
            [*initdb, "--no-sync", "-E", "UTF8", "--locale=C"],
            cwd=folder, user=user, check=True, timeout=120, capture_output=True,
        )  # fmt: skip
        with _running(folder, user) as port:
            server = PostgresInstance(port, folder)
            _create_tables(server)
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _running(folder: Path, user: str | None) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off", "port": str(port)}
    arguments = [argument for name, value in settings.items() for argument in ("-c", f"{name}={value}")]
    with subprocess.Popen(
        ["postgres", "-D", "data", *arguments], cwd=folder, user=user, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stderr is not None
            assert any("ready to accept connections" in line for line in server.stderr), "the server did not start"
            yield port
        finally:
            server.send_signal(signal.SIGQUIT)
            server.communicate(timeout=60)


def _create_tables(server: PostgresInstance) -> None:
    server.run("CREATE DATABASE shop", database="postgres")
    server.run(tables() + numbers())
    server.run(
        f"""
        CREATE SEQUENCE tickets; CREATE SCHEMA store; CREATE TABLE store.shelf AS SELECT 7 AS height;
        CREATE TYPE mood AS ENUM ('calm', 'cross');
        CREATE TABLE visit (at timestamptz, mood mood, tags text[], note jsonb);
        INSERT INTO visit VALUES ('2024-05-01 10:00+00', 'calm', ARRAY['a', 'b'], '{{"k": 1}}');
        COMMENT ON TABLE customer IS 'who buys'; COMMENT ON COLUMN customer.spent IS 'in dollars';
        CREATE FUNCTION touch_it() RETURNS int LANGUAGE plpgsql AS
            $$ BEGIN EXECUTE 'DELETE FROM customer'; RETURN 1; END $$;
        CREATE PROCEDURE refresh() LANGUAGE sql AS 'DELETE FROM customer';
        CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}';
        GRANT USAGE ON SCHEMA public, store TO reader;
        GRANT SELECT ON ALL TABLES IN SCHEMA public, store TO reader;
        """
    )
