"""A parsed question: the columns to show, filter, group and order by. Independent of SQL and of English."""

from dataclasses import dataclass, replace

from marchwarden.researchers.database.nl2sql.joins import ColumnRef, Join
from marchwarden.researchers.database.nl2sql.lexicon import Aggregate
from marchwarden.researchers.database.nl2sql.tokens import DateSpan


@dataclass(frozen=True)
class Term:
    """Columns shown together, or an aggregate of a column. Without a column, the aggregate counts rows.

    `key` distinguishes rows with the same name. `stored_as_text` marks numbers that are stored as text and compared
    as numbers. `is_entity` marks a term that stands for whole rows rather than for one of their columns.
    """

    table: str
    columns: tuple[str, ...]
    label: str
    aggregate: Aggregate | None = None
    distinct: bool = False
    key: str = ""
    stored_as_text: bool = False
    is_entity: bool = False

    def is_among(self, terms: "tuple[Term, ...]") -> bool:
        """Whether `terms` contains the same term, ignoring labels."""
        return any(replace(each, label=self.label) == self for each in terms)


@dataclass(frozen=True)
class Condition:
    """A condition on a column.

    `years` says that the column holds years instead of dates. `literal` is written without quotation marks.
    `stored_as_text` has the same meaning as in `Term`.
    """

    column_ref: ColumnRef
    label: str
    operator: str
    texts: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()
    span: DateSpan | None = None
    years: bool = False
    literal: str = ""
    stored_as_text: bool = False


@dataclass(frozen=True)
class Absence:
    """Rows of another table that must not exist."""

    join: Join
    label: str


@dataclass(frozen=True)
class Ordering:
    """The order of the rows.

    `superlative` is the word that the question uses; `implied` says that it names no measure besides.
    """

    term: Term
    descending: bool
    limit: int | None
    only_extreme: bool
    superlative: str = ""
    implied: bool = False


@dataclass(frozen=True)
class Having:
    term: Term
    operator: str
    numbers: tuple[float, ...]


@dataclass(frozen=True)
class SelectQuery:
    """Everything a statement needs. The joins start at `table`.

    `about` holds the question's words for things that are neither shown nor filtered by. `unique_key` is set when
    joins would repeat rows of a sum or average: each row with this key is taken once. `either` joins the conditions
    with OR.
    """

    table: str
    joins: tuple[Join, ...]
    shown: tuple[Term, ...]
    groups: tuple[Term, ...] = ()
    conditions: tuple[Condition, ...] = ()
    absences: tuple[Absence, ...] = ()
    having: tuple[Having, ...] = ()
    ordering: Ordering | None = None
    then_by: Ordering | None = None
    about: tuple[str, ...] = ()
    unique_key: str = ""
    either: bool = False
