"""DatabaseSource: search and fetch rows of a database. Does not know the mind, the budget or the trace."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

import anyio
from anyio import to_thread

from marchwarden.contract import GapCategory
from marchwarden.core.notebook import Document, Hit, Query
from marchwarden.errors import SourceError
from marchwarden.protocols import StatusCallback
from marchwarden.researchers.database.jobs import JobKind, JobOutcome, QueryLimits, Reason, ResultRows
from marchwarden.researchers.database.location import Database, DatabaseQuery
from marchwarden.researchers.database.models import Schema
from marchwarden.researchers.database.nl2sql import QuestionParser
from marchwarden.researchers.database.rendering import document_title, render_document
from marchwarden.researchers.database.runner import JobRunner, QueryFailed
from marchwarden.researchers.database.schema_text import describe_schema
from marchwarden.text.sanitize import one_line, quotable_line

SCHEMA_MAX_AGE_SECONDS: Final = 60.0
"""How long a schema is reused. New tables are rare, and sampling large tables takes a while."""
MAX_CONCURRENT: Final = 2
_LIMITS: Final = QueryLimits()
_LIKE_SQL: Final = re.compile(r"[\s(]*(?:select|with|values|from)\b", re.IGNORECASE)
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True)
class _SchemaSnapshot:
    schema: Schema
    parser: QuestionParser
    notices: tuple[str, ...]
    at: float


class DatabaseSource:
    """Finds evidence in one database. A query is either SQL or a question, which is translated into SQL."""

    def __init__(self, database: Database, *, limits: QueryLimits = _LIMITS, runner: JobRunner | None = None) -> None:
        self._database = database
        self._runner = runner or JobRunner(database.target, limits)
        self._snapshot: _SchemaSnapshot | None = None
        self._schema_lock = anyio.Lock()
        self._slots = anyio.Semaphore(MAX_CONCURRENT)

    @property
    def name(self) -> str:
        return "database"

    @property
    def settings(self) -> Mapping[str, object]:
        return {"database": self._database.target.address, "shown": self._database.shown}

    async def ready(self, report: StatusCallback) -> None:
        await report(f"reading the schema of {one_line(self._database.name, 80)}")
        await self._current_schema()

    def guide(self) -> str:
        return describe_schema(self._snapshot.schema) if self._snapshot else ""

    async def search(self, query: Query) -> Sequence[Hit]:
        """Return the statement for a query: the query itself if it is SQL, else its most likely translation."""
        question = _full_question(query)
        sql_error: SourceError | None = None
        if _LIKE_SQL.match(question):
            try:
                return (self._hit((await self._run(JobKind.CHECK, question)).sql),)
            except QueryFailed as error:
                # "Select the best of them" is English too.
                if error.reason is not Reason.MALFORMED:
                    raise
                sql_error = error
        parser = (await self._current_schema()).parser
        # In a thread: both the question and the schema are untrusted, so parsing may take long.
        statements = await to_thread.run_sync(parser.translate, question, abandon_on_cancel=True)
        if statements:
            return (self._hit(statements[0].sql, statements[0].reading, question),)
        if not sql_error and question == query.text and query.question not in ("", question):
            # A follow-up query about something found elsewhere: no result is not a gap.
            return ()
        raise sql_error or SourceError(one_line(parser.explain_refusal(question)), GapCategory.SCOPE_EXCEEDED)

    async def fetch(self, hit: Hit) -> Document:
        """Run the statement of a locator and return its current rows."""
        query = self._database.parse_locator(hit.locator)
        if query is None:
            raise SourceError(f"{one_line(hit.locator)}: not a locator of this database", GapCategory.SOURCE_NOT_FOUND)
        outcome = await self._run(JobKind.RUN, query.sql)
        document = render_document(self._database, query, outcome.rows or ResultRows((), ()), datetime.now(UTC))
        return replace(document, title=hit.title or document.title)

    def notices(self) -> Sequence[str]:
        return self._snapshot.notices if self._snapshot else ()

    async def _current_schema(self) -> _SchemaSnapshot:
        async with self._schema_lock:
            if self._snapshot is None or time.monotonic() - self._snapshot.at >= SCHEMA_MAX_AGE_SECONDS:
                outcome = await self._run(JobKind.SCHEMA)
                assert outcome.schema is not None
                parser = await to_thread.run_sync(QuestionParser, outcome.schema, abandon_on_cancel=True)
                self._snapshot = _SchemaSnapshot(
                    outcome.schema, parser, tuple(map(one_line, outcome.notices)), time.monotonic()
                )
            return self._snapshot

    async def _run(self, kind: JobKind, sql: str = "") -> JobOutcome:
        try:
            async with self._slots:
                return await self._runner.run(kind, sql)
        except QueryFailed as error:
            raise error.for_database(one_line(self._database.name, 80)) from error

    def _hit(self, sql: str, reading: str = "", question: str = "") -> Hit:
        query = DatabaseQuery(sql, quotable_line(reading))
        title = document_title(self._database, query)
        return Hit(self._database.locator(query), one_line(f"{title} ({question})" if question else title))


def _full_question(query: Query) -> str:
    """Return the complete question if the query consists of words from it: minds often drop the stop words."""
    words = set(_WORD.findall(query.text.casefold()))
    full = query.aspect or query.question
    return full if words <= set(_WORD.findall(full.casefold())) else query.text
