"""Call a source within time limits. This is the boundary to sources: whatever goes wrong is a `SourceError`.

Does not know budgets or traces.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

import anyio

from marchwarden.contract import GapCategory
from marchwarden.core.notebook import Document, Hit, Query
from marchwarden.errors import InvalidInput, ReplayDiverged, SourceError
from marchwarden.logs import log_unexpected
from marchwarden.protocols import LeftOut, Source, SourceWithIndex, SourceWithWarnings, StatusCallback

T = TypeVar("T")


class SourceCalls:
    """A source whose calls take limited time and raise only `SourceError`."""

    def __init__(self, source: Source) -> None:
        self._source = source

    @property
    def name(self) -> str:
        return self._source.name

    async def ready(self, report: StatusCallback) -> None:
        """Prepare the first search. May also raise `InvalidInput` if there is nothing to search."""
        with _only_source_errors(f"{self.name}: ready", InvalidInput):
            await self._source.ready(report)

    def guide(self) -> str:
        with _only_source_errors(f"{self.name}: guide"):
            return self._source.guide()

    async def search(self, query: Query, seconds: float, left: float) -> Sequence[Hit]:
        with _only_source_errors(f"{self.name}: search"):
            return tuple(await _with_timeout(lambda: self._source.search(query), seconds, left))

    async def fetch(self, hit: Hit, seconds: float, left: float) -> Document:
        with _only_source_errors(f"{self.name}: fetch"):
            return await _with_timeout(lambda: self._source.fetch(hit), seconds, left)

    def notices(self) -> list[str]:
        return self._listed(self._notices, "notices")

    def left_out(self) -> LeftOut | None:
        """Return what the source skipped while it indexed files, or None if it has no index."""
        with suppress(SourceError), _only_source_errors(f"{self.name}: left out"):
            return self._source.left_out() if isinstance(self._source, SourceWithIndex) else None
        return None

    def warnings(self) -> list[str]:
        """List problems that do not affect the answer, if the source reports any."""
        return self._listed(self._warnings, "warnings")

    def _notices(self) -> Sequence[str]:
        # Looked up here, because a broken source may not even have the method.
        return self._source.notices()

    def _warnings(self) -> Sequence[str]:
        return self._source.warnings() if isinstance(self._source, SourceWithWarnings) else ()

    def _listed(self, get: Callable[[], Sequence[str]], what: str) -> list[str]:
        try:
            with _only_source_errors(f"{self.name}: {what}"):
                return list(get())
        except SourceError as error:
            return [error.detail]


@contextmanager
def _only_source_errors(what: str, *also: type[Exception]) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if isinstance(error, (SourceError, ReplayDiverged, *also)):
            raise
        log_unexpected(what, error)
        raise SourceError(f"an unexpected error: {type(error).__name__}") from error


async def _with_timeout(perform: Callable[[], Awaitable[T]], seconds: float, left: float) -> T:
    """Wait at most `seconds`, and not longer than the time left for the run."""
    try:
        with anyio.fail_after(min(seconds, left)):
            return await perform()
    except TimeoutError as error:
        if left <= seconds:
            raise SourceError("the time limit of the run was reached", GapCategory.BUDGET_EXHAUSTED) from error
        raise SourceError(f"no answer within {seconds:g} s") from error
