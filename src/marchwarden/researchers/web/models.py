"""Data types of the web researcher: search providers, and how recent pages must be."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, Protocol

from marchwarden.contract import Depth
from marchwarden.core.notebook import Hit, Query


class Provider(Protocol):
    """A web search service. Raises only `SourceError`."""

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> Mapping[str, object]:
        """The endpoint, recorded in the trace. Never contains a secret."""
        ...

    @property
    def notice(self) -> str:
        """A limitation that readers of the result should know about, or an empty string."""
        ...

    async def find(self, query: Query) -> Sequence[Hit]: ...


class TimeRange(StrEnum):
    """How far back a search looks."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


# "Today" alone often means "nowadays", so it gets a month. Only unambiguous phrases get a day.
_TIME_RANGES: Final = (
    (TimeRange.DAY, re.compile(r"\b(?:today['’]s|tonight|breaking news|right now|past 24 hours)\b", re.IGNORECASE)),
    (TimeRange.WEEK, re.compile(r"\b(?:this|past|last) week\b", re.IGNORECASE)),
    (TimeRange.MONTH, re.compile(r"\b(?:(?:this|past|last) month|today)\b", re.IGNORECASE)),
    (
        TimeRange.YEAR,
        re.compile(
            r"\b(?:(?:this|past|current) year|latest|newest|most recent|recently|currently|so far|up[ -]to[ -]date)\b",
            re.IGNORECASE,
        ),
    ),
)
_HITS_AT: Final = {Depth.SHALLOW: 8, Depth.BALANCED: 12, Depth.DEEP: 20}


def time_range_of(query: Query) -> TimeRange | None:
    """Return how recent pages must be for this query, or None if any age will do."""
    text = f"{query.text} {query.aspect}"
    return next((time_range for time_range, words in _TIME_RANGES if words.search(text)), None)


def hits_wanted(query: Query) -> int:
    return _HITS_AT[query.depth]
