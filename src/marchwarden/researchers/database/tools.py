"""DatabaseSource: a database as a source of evidence. Knows no mind, budget or trace."""

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
from marchwarden.researchers.database.jobs import Errand, Limits, Outcome, Reason, Rows
from marchwarden.researchers.database.location import Asked, Database
from marchwarden.researchers.database.models import Schema
from marchwarden.researchers.database.nl2sql import Questions
from marchwarden.researchers.database.rendering import rendered, title_of
from marchwarden.researchers.database.runner import NotDone, Runner
from marchwarden.researchers.database.schema_text import guide
from marchwarden.text.sanitize import one_line

FRESH_SECONDS: Final = 60.0
"""How long a look at the schema is good for: new tables are rare, and looking at large ones takes a while."""
AT_ONCE: Final = 2
_LIMITS: Final = Limits()
_LIKE_SQL: Final = re.compile(r"[\s(]*(?:select|with|values|from)\b", re.IGNORECASE)
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True)
class _Look:
    """What was seen of the database, and when."""

    schema: Schema
    questions: Questions
    notices: tuple[str, ...]
    at: float


class DatabaseSource:
    """Statements on one database: those a mind wrote, or those a question in plain words comes to."""

    def __init__(self, database: Database, *, limits: Limits = _LIMITS, runner: Runner | None = None) -> None:
        self._database = database
        self._runner = runner or Runner(database.target, limits)
        self._look: _Look | None = None
        self._looking = anyio.Lock()
        self._turns = anyio.Semaphore(AT_ONCE)

    @property
    def name(self) -> str:
        return "database"

    @property
    def settings(self) -> Mapping[str, object]:
        return {"database": self._database.target.address, "shown": self._database.shown}

    async def ready(self, tell: StatusCallback) -> None:
        await tell(f"looking at what is in {one_line(self._database.name, 80)}")
        await self._known()

    def guide(self) -> str:
        return guide(self._look.schema) if self._look else ""

    async def search(self, query: Query) -> Sequence[Hit]:
        """The statement a query comes to: a query that is one comes to itself, any other to its likeliest meaning."""
        asked = _asked(query)
        trouble: SourceError | None = None
        if _LIKE_SQL.match(asked):
            try:
                return (self._hit((await self._do(Errand.CHECK, asked)).sql),)
            except NotDone as error:
                # "Select the best of them" is English too.
                if error.reason is not Reason.MALFORMED:
                    raise
                trouble = error
        questions = (await self._known()).questions
        # Reading a question is only computing, but of a stranger's words over a stranger's schema.
        found = await to_thread.run_sync(questions.statements, asked, abandon_on_cancel=True)
        if found:
            return (self._hit(found[0].sql, found[0].reading, asked),)
        if not trouble and asked == query.text and query.question not in ("", asked):
            # Something met on the way was looked up in passing: that it is not there is no gap.
            return ()
        raise trouble or SourceError(one_line(questions.unknown(asked)), GapCategory.SCOPE_EXCEEDED)

    async def fetch(self, hit: Hit) -> Document:
        """The rows of a hit's statement as they are now. The locator alone says all that is needed."""
        asked = self._database.asked(hit.locator)
        if asked is None:
            raise SourceError(f"{one_line(hit.locator)}: not of this database", GapCategory.SOURCE_NOT_FOUND)
        outcome = await self._do(Errand.RUN, asked.sql)
        document = rendered(self._database, asked, outcome.rows or Rows((), ()), datetime.now(UTC))
        return replace(document, title=hit.title or document.title)

    def notices(self) -> Sequence[str]:
        return self._look.notices if self._look else ()

    async def _known(self) -> "_Look":
        async with self._looking:
            if self._look is None or time.monotonic() - self._look.at >= FRESH_SECONDS:
                seen = await self._do(Errand.SCHEMA)
                assert seen.schema is not None
                questions = await to_thread.run_sync(Questions, seen.schema, abandon_on_cancel=True)
                self._look = _Look(seen.schema, questions, tuple(map(one_line, seen.notices)), time.monotonic())
            return self._look

    async def _do(self, errand: Errand, sql: str = "") -> Outcome:
        try:
            async with self._turns:
                return await self._runner.do(errand, sql)
        except NotDone as error:
            raise error.of(one_line(self._database.name, 80)) from error

    def _hit(self, sql: str, reading: str = "", question: str = "") -> Hit:
        asked = Asked(sql, one_line(reading))
        title = title_of(self._database, asked)
        return Hit(self._database.locator(asked), one_line(f"{title} ({question})" if question else title))


def _asked(query: Query) -> str:
    """What a query wants to know, in whole words: many a mind searches for a question without its empty words."""
    bare = set(_WORD.findall(query.text.casefold()))
    whole = query.aspect or query.question
    return whole if bare <= set(_WORD.findall(whole.casefold())) else query.text
