"""Find how the tables of a schema join: by declared references, else by the names and values of their columns."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from marchwarden.researchers.database.models import Column, ColumnKind, Schema, Table
from marchwarden.researchers.database.nl2sql.names import SchemaNames, split_name

DECLARED: Final = 1.0
SAME_NAME: Final = 1.1
SAME_VALUES: Final = 1.3
SHARED: Final = 2.0
_MIN_VALUES: Final = 4
_PAIR: Final = 2
_MAX_TABLES_FOR_GUESSES: Final = 150


@dataclass(frozen=True)
class ColumnRef:
    """A column of a table."""

    table: str
    column: str


@dataclass(frozen=True)
class Join:
    """Two columns with the same values. `cost` is higher for guessed joins.

    `repeats` says that one row of the first table may match several rows of the second.
    """

    one: ColumnRef
    other: ColumnRef
    cost: float = DECLARED
    repeats: bool = False

    def reverse(self) -> "Join":
        return Join(self.other, self.one, self.cost, repeats=not self.repeats)


class JoinGraph:
    """The joins of a schema as a graph of tables."""

    def __init__(self, schema: Schema, names: SchemaNames) -> None:
        self._edges: dict[str, list[Join]] = {table.name: [] for table in schema.tables}
        self.all = tuple(_joins(schema, names))
        for join in self.all:
            self._edges[join.one.table].append(join)
            self._edges[join.other.table].append(join.reverse())
        for edges in self._edges.values():
            edges.sort(key=lambda join: join.cost)

    def between(self, one: str, other: str) -> Join | None:
        return next((join for join in self._edges[one] if join.other.table == other), None)

    def connect(self, tables: tuple[str, ...]) -> tuple[Join, ...] | None:
        """Return the cheapest joins that connect the tables, starting at the first; None if they are not connected."""
        reached, joins = [tables[0]], list[Join]()
        for table in tables[1:]:
            if table in reached:
                continue
            path = self._cheapest_path(reached, table)
            if path is None:
                return None
            joins.extend(path)
            reached.extend(join.other.table for join in path)
        return tuple(joins)

    def _cheapest_path(self, reached: list[str], target: str) -> list[Join] | None:
        best: dict[str, tuple[float, list[Join]]] = {table: (0.0, []) for table in reached}
        waiting = deque(reached)
        while waiting:
            table = waiting.popleft()
            cost, path = best[table]
            for join in self._edges[table]:
                other = join.other.table
                if other not in best or cost + join.cost < best[other][0]:
                    best[other] = (cost + join.cost, [*path, join])
                    waiting.append(other)
        return best[target][1] if target in best else None


def _joins(schema: Schema, names: SchemaNames) -> Iterator[Join]:
    """Yield declared joins, and guesses for the columns that declare none."""
    declared = {
        (table.name, each.name): join
        for table in schema.tables
        for reference in table.references
        if (join := _declared_join(schema, table, reference.column, reference.table, reference.target))
        for each in table.columns
        if each.name == join.one.column
    }
    yield from declared.values()
    if len(schema.tables) > _MAX_TABLES_FOR_GUESSES:
        return
    for table in schema.tables:
        for column in table.columns:
            if (table.name, column.name) not in declared:
                yield from _guess_joins(schema, names, table, column)


def _declared_join(schema: Schema, table: Table, column: str, target_table: str, target: str) -> Join | None:
    own_column, other = table.column(column), schema.table(target_table)
    target_column = other.column(target) if other else None
    if own_column is None or other is None or target_column is None or other.name == table.name:
        return None
    return Join(ColumnRef(table.name, own_column.name), ColumnRef(other.name, target_column.name))


def _guess_joins(schema: Schema, names: SchemaNames, table: Table, column: Column) -> Iterator[Join]:
    for other in schema.tables:
        if other.name == table.name:
            continue
        here = ColumnRef(table.name, column.name)
        key, title = names.primary_key(other), names.title_columns(other)
        if key and _is_reference_to(column, other, key):
            yield Join(here, ColumnRef(other.name, key.name), SAME_NAME)
        elif (same := other.column(column.name)) and _names_same_thing(same, column):
            yield Join(here, ColumnRef(other.name, same.name), SAME_NAME if same in title else SHARED - 0.5)
        elif len(title) == 1 and _values_within(column, title[0]):
            yield Join(here, ColumnRef(other.name, title[0].name), SAME_VALUES)


def _is_reference_to(column: Column, other: Table, key: Column) -> bool:
    """`merchant_id` refers to the key of merchants, `sbTxCustId` to `sbCustId`, `pid` to `pid`."""
    name, key_name = split_name(column.name), split_name(key.name)
    if name == key_name:
        return name != ("id",)
    if name[-1] == "id" and len(name) > 1 and len(split_name(other.name)) == 1:
        return split_name(other.name)[0].startswith(name[-2])
    return len(name) >= len(key_name) > _PAIR and name[-_PAIR:] == key_name[-_PAIR:]


def _names_same_thing(same: Column, column: Column) -> bool:
    """Whether two columns with one name mean the same: true for identifiers and names, false for `status`."""
    words = split_name(column.name)
    return len(words) > 1 and words[-1] in {"id", "name"} and same.kind is column.kind


def _values_within(column: Column, title: Column) -> bool:
    """Whether nearly all values of a column are names of the other table's rows."""
    if (
        column.kind is not ColumnKind.TEXT
        or not (column.complete and title.complete)
        or len(column.values) < _MIN_VALUES
    ):
        return False
    known = set(title.values)
    return sum(value in known for value in column.values) >= 0.9 * len(column.values)
