"""Sum up the costs of runs. Traces are the only record of costs."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from marchwarden.audit.prices import Prices
from marchwarden.core.notebook import Usage
from marchwarden.storage.store import Store
from marchwarden.storage.trace import TraceEntry


@dataclass(frozen=True)
class Expense:
    """One call to a mind: the day, the researcher, the model, and the cost."""

    day: str
    researcher: str
    model: str
    action: str
    tokens: int
    dollars: float | None


@dataclass(frozen=True)
class Sum:
    """A group of expenses. `unpriced` is the number of tokens without a known price."""

    name: str
    tokens: int
    dollars: float
    unpriced: int


def expenses(entries: Sequence[TraceEntry], prices: Prices) -> Iterator[Expense]:
    """Yield every call of a run that cost tokens, including failed ones."""
    researcher = next((str(entry.fields.get("researcher")) for entry in entries if entry.action == "start"), "")
    for entry in entries:
        match entry.fields:
            case {"model": str(model), "tokens": int(tokens)} if tokens > 0:
                dollars = prices.dollars(model, _usage(entry.fields, tokens))
                yield Expense(entry.timestamp[:10], researcher, model, entry.action, tokens, dollars)


def all_expenses(store: Store, prices: Prices) -> list[Expense]:
    """Return the expenses of all stored runs."""
    return [each for trace_id in store.traces() for each in expenses(store.chain(trace_id).entries, prices)]


def sum_by(found: Iterable[Expense], by: str) -> list[Sum]:
    """Sum by `day`, `model`, `researcher` or `action`, sorted by name."""
    groups: dict[str, list[Expense]] = defaultdict(list)
    for expense in found:
        groups[getattr(expense, by)].append(expense)
    return [_sum(name, groups[name]) for name in sorted(groups)]


def total(found: Sequence[Expense]) -> Sum:
    return _sum("total", found)


def _sum(name: str, found: Sequence[Expense]) -> Sum:
    return Sum(
        name=name,
        tokens=sum(expense.tokens for expense in found),
        dollars=sum(expense.dollars or 0.0 for expense in found),
        unpriced=sum(expense.tokens for expense in found if expense.dollars is None),
    )


def _usage(fields: Mapping[str, object], tokens: int) -> Usage:
    """Return the billed usage. A mind that reports no breakdown is charged for input only."""
    match fields.get("usage"):
        case {"input": int(given), "output": int(made), "cache_read": int(read), "cache_write": int(written)}:
            return Usage(given, made, read, written)
    return Usage(input=tokens)
