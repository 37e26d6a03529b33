"""A question settled: which columns are shown, tested, grouped and ordered. Neither SQL nor English yet."""

from dataclasses import dataclass, replace

from marchwarden.researchers.database.nl2sql.joins import Join, Place
from marchwarden.researchers.database.nl2sql.lexicon import Fold
from marchwarden.researchers.database.nl2sql.tokens import Span


@dataclass(frozen=True)
class Term:
    """Columns that are shown together, or many values made one. Rows are counted where there is no column.

    `key` tells rows of one name apart, `written` marks numbers kept as text, to be compared as
    numbers, `thing` rows rather than something of them.
    """

    table: str
    columns: tuple[str, ...]
    label: str
    fold: Fold | None = None
    distinct: bool = False
    key: str = ""
    written: bool = False
    thing: bool = False

    def is_among(self, terms: "tuple[Term, ...]") -> bool:
        """Whether the same is there already, whatever it is called."""
        return any(replace(each, label=self.label) == self for each in terms)


@dataclass(frozen=True)
class Condition:
    """What must hold of a column.

    `span` is a stretch of time, `years` says that the column holds mere years; `bare` is told without quotation marks,
    `written` as with terms.
    """

    place: Place
    label: str
    sign: str
    texts: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()
    span: Span | None = None
    years: bool = False
    bare: str = ""
    written: bool = False


@dataclass(frozen=True)
class Absence:
    """Rows of another table that must not be there."""

    join: Join
    label: str


@dataclass(frozen=True)
class Ordering:
    """How the rows are ordered. `implied` where the question did not name the measure but only `said` a superlative."""

    term: Term
    descending: bool
    limit: int | None
    only_extreme: bool
    said: str = ""
    implied: bool = False


@dataclass(frozen=True)
class Having:
    term: Term
    sign: str
    numbers: tuple[float, ...]


@dataclass(frozen=True)
class Asked:
    """Everything a statement is made from. The first table is where the joins begin.

    `about` are the question's words for things that are neither shown nor given; `once` is the key by which rows are
    taken once each, where joins would repeat what is added up.
    """

    table: str
    joins: tuple[Join, ...]
    shown: tuple[Term, ...]
    groups: tuple[Term, ...] = ()
    conditions: tuple[Condition, ...] = ()
    absences: tuple[Absence, ...] = ()
    having: tuple[Having, ...] = ()
    ordering: Ordering | None = None
    within: Ordering | None = None
    about: tuple[str, ...] = ()
    once: str = ""
    either: bool = False
