"""The nouns of the web researcher: who finds pages, and how recent they must be."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, Protocol

from marchwarden.contract import Depth
from marchwarden.core.notebook import Hit, Query


class Provider(Protocol):
    """Who is text where to look. Raises `SourceError` and nothing else."""

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> Mapping[str, object]:
        """Where it is text, for the trace. Never a secret."""
        ...

    @property
    def notice(self) -> str:
        """What whoever reads the result should know about it; empty where there is nothing to tell."""
        ...

    async def find(self, query: Query) -> Sequence[Hit]: ...


class TimeRange(StrEnum):
    """How far back a search looks."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


# "Today" alone often means "nowadays", so it gets a month; only what can mean nothing else gets a day.
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
    """How recent an answer must be for this query to make sense; None where any age will do."""
    text = f"{query.text} {query.aspect}"
    return next((time_range for time_range, words in _TIME_RANGES if words.search(text)), None)


def hits_wanted(query: Query) -> int:
    return _HITS_AT[query.depth]
