"""`DatabaseResearcher`: answers questions from a database."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self

from marchwarden.errors import MalformedTrace
from marchwarden.loop.investigator import Investigator
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.protocols import Mind
from marchwarden.researchers.database.location import Database
from marchwarden.researchers.database.spec import SPEC
from marchwarden.researchers.database.tools import DatabaseSource
from marchwarden.settings import home_folder
from marchwarden.storage.store import Store

_EMPTY: Final[Mapping[str, str]] = MappingProxyType({})


class DatabaseResearcher(Investigator):
    """Answers questions from the rows of one database, read-only.

    `environ` may contain the user (PGUSER) and password (PGPASSWORD) of a PostgreSQL server.
    """

    def __init__(
        self,
        url_or_path: str | Path | Database,
        *,
        environ: Mapping[str, str] = _EMPTY,
        mind: Mind | None = None,
        trace_dir: str | Path | Store | None = None,
    ) -> None:
        database = url_or_path if isinstance(url_or_path, Database) else Database.at(url_or_path, environ)
        store = Store.at(trace_dir or home_folder({}) / "traces", environ)
        fallback = ExtractiveMind()
        super().__init__(DatabaseSource(database), mind or fallback, store=store, fallback=fallback, name=SPEC.kind)

    @classmethod
    def from_trace(
        cls,
        settings: Mapping[str, object],
        *,
        mind: Mind,
        trace_dir: Path | Store,
        environ: Mapping[str, str] = _EMPTY,
    ) -> Self:
        """Rebuild the researcher that a trace describes. The password comes from `environ`."""
        address, shown = settings.get("database"), settings.get("shown")
        if not isinstance(address, str) or not isinstance(shown, str):
            raise MalformedTrace("the trace does not name the database of its researcher")
        return cls(Database.from_trace(address, shown, environ), mind=mind, trace_dir=trace_dir)
