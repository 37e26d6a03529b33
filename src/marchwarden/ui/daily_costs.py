"""Spending: what all runs cost, a day at a time. Reads a trace once as long as it stays the same."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from marchwarden.audit.costs import Expense, expenses
from marchwarden.audit.prices import Prices
from marchwarden.errors import UnknownTrace
from marchwarden.storage.store import Store
from marchwarden.storage.trace import Stamp

LONGEST: Final = 366


@dataclass(frozen=True)
class Day:
    """What one day cost; days on which nobody asked anything are there too, at nothing."""

    day: date
    tokens: int = 0
    dollars: float = 0.0
    unpriced: int = 0


class DailyCosts:
    """The expenses of all runs of a store."""

    def __init__(self, store: Store, prices: Prices) -> None:
        self._store = store
        self._prices = prices
        self._read: dict[str, tuple[Stamp, tuple[Expense, ...]]] = {}

    def expenses(self) -> list[Expense]:
        return [each for trace_id, stamp in self._store.stamps().items() for each in self._of(trace_id, stamp)]

    def _of(self, trace_id: str, stamp: Stamp) -> tuple[Expense, ...]:
        known = self._read.get(trace_id)
        if known and known[0] == stamp:
            return known[1]
        try:
            found = tuple(expenses(self._store.chain(trace_id).entries, self._prices))
        except UnknownTrace:
            found = ()
        self._read[trace_id] = (stamp, found)
        return found


def days(found: Sequence[Expense], until: date, most: int) -> list[Day]:
    """From the first day anything was spent to today, without holes; only the latest `most` of them."""
    dated = [(read, expense) for expense in found if (read := _date(expense.day)) and read <= until]
    if not dated:
        return []
    first = max(min(day for day, _ in dated), until - timedelta(days=min(most, LONGEST) - 1))
    sums: dict[date, Day] = {day: Day(day) for day in _range(first, until)}
    for day, expense in dated:
        if day in sums:
            sums[day] = _added(sums[day], expense)
    return list(sums.values())


def _range(first: date, last: date) -> Iterator[date]:
    for number in range((last - first).days + 1):
        yield first + timedelta(days=number)


def _added(day: Day, expense: Expense) -> Day:
    return Day(
        day.day,
        day.tokens + expense.tokens,
        day.dollars + (expense.dollars or 0.0),
        day.unpriced + (expense.tokens if expense.dollars is None else 0),
    )


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
