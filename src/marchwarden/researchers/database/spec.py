"""The database researcher for the registry. Light to import."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from marchwarden.core.inputs import Inputs
from marchwarden.researchers.spec import BuildContext, Described, InputOption, ResearcherSpec

if TYPE_CHECKING:
    from marchwarden.loop.investigator import Investigator
    from marchwarden.protocols import Source
    from marchwarden.settings import Settings

_DATABASES: Final = "databases"


def _describe(inputs: Inputs, settings: "Settings") -> Described:
    from marchwarden.researchers.database.location import Database

    database = Database.at(_only(inputs), settings.environ)
    return {"database": database.target.address, "shown": database.shown}


def _build(inputs: Inputs, context: BuildContext) -> "Investigator":
    from marchwarden.researchers.database.agent import DatabaseResearcher

    return DatabaseResearcher(_only(inputs), environ=context.environ, mind=context.mind, trace_dir=context.store)


def _from_trace(described: Described, context: BuildContext) -> "Investigator":
    from marchwarden.researchers.database.agent import DatabaseResearcher

    return DatabaseResearcher.from_trace(described, mind=context.mind, trace_dir=context.store, environ=context.environ)


def _inputs_from_trace(described: Described) -> Inputs:
    address = described.get("database")
    return Inputs.of({_DATABASES: [address] if isinstance(address, str) else []})


def _recheck_source(described: Described, context: BuildContext) -> "Source":
    from marchwarden.contract import GapCategory
    from marchwarden.errors import SourceError

    match described.get("database"):
        case str(address) if "://" not in address and not Path(address).exists():
            raise SourceError(f"there is no {described.get('shown')} any more", GapCategory.SOURCE_NOT_FOUND)
    return _from_trace(described, context).source


def _only(inputs: Inputs) -> str:
    """Return the one database: each has a researcher of its own."""
    (database,) = inputs[_DATABASES]
    return database


SPEC: Final = ResearcherSpec(
    kind="database",
    purpose=(
        "Answers from one database (SQLite, DuckDB, PostgreSQL): counts, sums, extremes and rows, with the query cited."
    ),
    inputs=(
        InputOption(
            name=_DATABASES,
            flag="--db",
            metavar="URL_OR_PATH",
            help="Database to answer from; repeatable.",
            label="Databases to read",
            example="shop.sqlite",
            hint="One file or URL per line; read-only.",
            serve_help=("SQLite or DuckDB file, or a URL such as postgresql://user@host/name; or set MARCHWARDEN_DB."),
            is_path=True,
            one_member_each=True,
            variable="MARCHWARDEN_DB",
        ),
    ),
    describe=_describe,
    build=_build,
    from_trace=_from_trace,
    inputs_from_trace=_inputs_from_trace,
    recheck_source=_recheck_source,
    variables=("PGUSER", "PGPASSWORD"),
    serve_help="""Serve the database researcher over MCP, on stdio or HTTP.

    The database is only read. The password comes from PGPASSWORD or from the URL.

    \b
    marchwarden serve database --db shop.sqlite
    marchwarden serve database --db postgresql://reader@localhost/shop
    marchwarden serve database --db shop.sqlite --http 127.0.0.1:8732
    """,
)
