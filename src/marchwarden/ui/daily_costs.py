"""Costs of all stored runs, per day. Reads a trace again only when it has changed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from marchwarden.audit.costs import Expense, expenses
from marchwarden.audit.prices import Prices
from marchwarden.errors import UnknownTrace
from marchwarden.storage.store import Store
from marchwarden.storage.trace import Stamp

MAX_DAYS: Final = 366


@dataclass(frozen=True)
class Day:
    """The costs of one day. Days without runs cost nothing."""

    day: date
    tokens: int = 0
    dollars: float = 0.0
    unpriced: int = 0


class DailyCosts:
    """The expenses of all runs in a store, cached per trace."""

    def __init__(self, store: Store, prices: Prices) -> None:
        self._store = store
        self._prices = prices
        self._cache: dict[str, tuple[Stamp, tuple[Expense, ...]]] = {}

    def expenses(self) -> list[Expense]:
        return [each for trace_id, stamp in self._store.stamps().items() for each in self._read(trace_id, stamp)]

    def _read(self, trace_id: str, stamp: Stamp) -> tuple[Expense, ...]:
        cached = self._cache.get(trace_id)
        if cached and cached[0] == stamp:
            return cached[1]
        try:
            found = tuple(expenses(self._store.chain(trace_id).entries, self._prices))
        except UnknownTrace:
            found = ()
        self._cache[trace_id] = (stamp, found)
        return found


def costs_per_day(found: Sequence[Expense], until: date, max_days: int) -> list[Day]:
    """Return every day from the first expense until `until`, limited to the latest `max_days`."""
    dated = [(day, expense) for expense in found if (day := _parse_date(expense.day)) and day <= until]
    if not dated:
        return []
    first = max(min(day for day, _ in dated), until - timedelta(days=min(max_days, MAX_DAYS) - 1))
    sums: dict[date, Day] = {day: Day(day) for day in _date_range(first, until)}
    for day, expense in dated:
        if day in sums:
            sums[day] = _add(sums[day], expense)
    return list(sums.values())


def _date_range(first: date, last: date) -> Iterator[date]:
    for number in range((last - first).days + 1):
        yield first + timedelta(days=number)


def _add(day: Day, expense: Expense) -> Day:
    return Day(
        day.day,
        day.tokens + expense.tokens,
        day.dollars + (expense.dollars or 0.0),
        day.unpriced + (expense.tokens if expense.dollars is None else 0),
    )


def _parse_date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
