"""`SPEC` of the database researcher. Imports the researcher only when it is built."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from marchwarden.core.inputs import Inputs
from marchwarden.researchers.spec import BuildContext, InputOption, ResearcherSpec, SourceDescription

if TYPE_CHECKING:
    from marchwarden.loop.investigator import Investigator
    from marchwarden.protocols import Source
    from marchwarden.settings import Settings

_DATABASES: Final = "databases"


def _describe(inputs: Inputs, settings: "Settings") -> SourceDescription:
    from marchwarden.researchers.database.location import Database

    database = Database.at(_only_database(inputs), settings.environ)
    return {"database": database.target.address, "shown": database.shown}


def _build(inputs: Inputs, context: BuildContext) -> "Investigator":
    from marchwarden.researchers.database.agent import DatabaseResearcher

    return DatabaseResearcher(
        _only_database(inputs), environ=context.environ, mind=context.mind, trace_dir=context.store
    )


def _from_trace(description: SourceDescription, context: BuildContext) -> "Investigator":
    from marchwarden.researchers.database.agent import DatabaseResearcher

    return DatabaseResearcher.from_trace(
        description, mind=context.mind, trace_dir=context.store, environ=context.environ
    )


def _inputs_from_trace(description: SourceDescription) -> Inputs:
    address = description.get("database")
    return Inputs.of({_DATABASES: [address] if isinstance(address, str) else []})


def _recheck_source(description: SourceDescription, context: BuildContext) -> "Source":
    from marchwarden.contract import GapCategory
    from marchwarden.core.paths import describe_missing
    from marchwarden.errors import SourceError

    match description.get("database"):
        case str(address) if "://" not in address and describe_missing(Path(address)):
            raise SourceError(f"{description.get('shown')} no longer exists", GapCategory.SOURCE_NOT_FOUND)
    return _from_trace(description, context).source


def _only_database(inputs: Inputs) -> str:
    """Return the only database: each database has its own researcher."""
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
