"""What a question wants, before it is settled which tables and columns its words mean. Data only."""

from dataclasses import dataclass, field

from marchwarden.researchers.database.nl2sql.lexicon import Fold
from marchwarden.researchers.database.nl2sql.meanings import Meaning
from marchwarden.researchers.database.nl2sql.tokens import Span


@dataclass(frozen=True)
class Slot:
    """Words of the question and all they may mean; exactly one meaning will be chosen.

    `said` is the superlative the question put before them, where they are `implied` the measure of it.
    """

    text: str
    meanings: tuple[Meaning, ...]
    implied: bool = False
    said: str = ""


@dataclass(frozen=True)
class Wish:
    """Something to show or to order by: a slot, or many of its values made one by a fold; `rows` folds whole rows."""

    slot: int
    fold: Fold | None = None
    rows: bool = False


@dataclass(frozen=True)
class Test:
    """A comparison of a slot with numbers, a pattern, a span of time or a truth.

    `counted` compares how many there are.
    """

    slot: int
    sign: str
    numbers: tuple[float, ...] = ()
    pattern: str = ""
    span: Span | None = None
    counted: bool = False
    truth: bool | None = None


@dataclass(frozen=True)
class Order:
    """By what to order, and how many rows to keep; all with the extreme value where there is no limit."""

    wish: Wish
    descending: bool = True
    limit: int | None = None
    only_extreme: bool = False
    said: str = ""


@dataclass(frozen=True)
class Bond:
    """Two slots that should be of one table; `strength` is what it costs if they are not.

    `measured` where the second is a measure implied of the first: then the first must be the things themselves.
    """

    one: int
    other: int
    strength: float
    measured: bool = False


@dataclass
class Sketch:
    """Filled while a question is read from left to right.

    `leftovers` are words nothing can be made of; `passed_over` counts those that most likely only join others.
    """

    slots: list[Slot] = field(default_factory=list)
    shown: list[Wish] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    values: list[int] = field(default_factory=list)
    excluded: list[int] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)
    bonds: list[Bond] = field(default_factory=list)
    order: Order | None = None
    outer: Order | None = None
    either: bool = False
    named: list[int] = field(default_factory=list)
    crowded: list[int] = field(default_factory=list)
    apart: list[tuple[int, int]] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    passed_over: int = 0

    def used(self) -> set[int]:
        """The slots something was made of."""
        orders = {order.wish.slot for order in (self.order, self.outer) if order}
        listed = {*self.values, *self.excluded, *self.groups, *self.missing}
        return {wish.slot for wish in self.shown} | {test.slot for test in self.tests} | orders | listed

    def add(self, text: str, meanings: tuple[Meaning, ...], *, implied: bool = False) -> int:
        self.slots.append(Slot(text, meanings, implied))
        return len(self.slots) - 1
