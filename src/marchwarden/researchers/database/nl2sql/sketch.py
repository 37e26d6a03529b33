"""What a question asks for, before its words are resolved to tables and columns. Data only."""

from dataclasses import dataclass, field

from marchwarden.researchers.database.nl2sql.lexicon import Aggregate
from marchwarden.researchers.database.nl2sql.meanings import SchemaMeaning
from marchwarden.researchers.database.nl2sql.tokens import DateSpan


@dataclass(frozen=True)
class Slot:
    """Words of the question and their possible meanings. Exactly one meaning is chosen later.

    `superlative` is the superlative before these words. `implied` marks a measure that a superlative implies.
    """

    text: str
    meanings: tuple[SchemaMeaning, ...]
    implied: bool = False
    superlative: str = ""


@dataclass(frozen=True)
class SketchTerm:
    """A slot to show or to order by, possibly aggregated. `rows` aggregates whole rows."""

    slot: int
    aggregate: Aggregate | None = None
    rows: bool = False


@dataclass(frozen=True)
class SlotComparison:
    """A comparison of a slot with numbers, a pattern, a date range or a boolean.

    `counted` compares the number of rows instead of their values.
    """

    slot: int
    operator: str
    numbers: tuple[float, ...] = ()
    pattern: str = ""
    span: DateSpan | None = None
    counted: bool = False
    is_true: bool | None = None


@dataclass(frozen=True)
class Order:
    """What to order by, and how many rows to return. `only_extreme` returns every row with the extreme value."""

    term: SketchTerm
    descending: bool = True
    limit: int | None = None
    only_extreme: bool = False
    superlative: str = ""


@dataclass(frozen=True)
class SlotLink:
    """Two slots that should belong to one table. `strength` is the cost if they do not.

    `measured` marks an implied measure of the first slot: the first slot must then name the rows that are measured.
    """

    one: int
    other: int
    strength: float
    measured: bool = False


@dataclass
class Sketch:
    """Filled while a question is read from left to right. Integers are indexes into `slots`.

    `unknown_words` cause a refusal. `skipped_words` counts words that most likely only connect others.
    """

    slots: list[Slot] = field(default_factory=list)
    shown: list[SketchTerm] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    values: list[int] = field(default_factory=list)
    excluded: list[int] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    comparisons: list[SlotComparison] = field(default_factory=list)
    slot_links: list[SlotLink] = field(default_factory=list)
    order: Order | None = None
    outer: Order | None = None
    either: bool = False
    named: list[int] = field(default_factory=list)
    crowded: list[int] = field(default_factory=list)
    apart: list[tuple[int, int]] = field(default_factory=list)
    unknown_words: list[str] = field(default_factory=list)
    skipped_words: int = 0

    def used_slots(self) -> set[int]:
        """The slots that contribute to the query."""
        orders = {order.term.slot for order in (self.order, self.outer) if order}
        listed = {*self.values, *self.excluded, *self.groups, *self.missing}
        return {term.slot for term in self.shown} | {each.slot for each in self.comparisons} | orders | listed

    def add(self, text: str, meanings: tuple[SchemaMeaning, ...], *, implied: bool = False) -> int:
        self.slots.append(Slot(text, meanings, implied))
        return len(self.slots) - 1
