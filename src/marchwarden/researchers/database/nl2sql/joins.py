"""How the tables of a schema hang together: by what they declare, else by what their columns' names and values show."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from marchwarden.researchers.database.models import Column, Kind, Schema, Table
from marchwarden.researchers.database.nl2sql.names import Names, parts

DECLARED: Final = 1.0
SAME_NAME: Final = 1.1
SAME_VALUES: Final = 1.3
SHARED: Final = 2.0
_ENOUGH: Final = 4
_PAIR: Final = 2
_MOST_TABLES: Final = 150


@dataclass(frozen=True)
class Place:
    """A column of a table."""

    table: str
    column: str


@dataclass(frozen=True)
class Join:
    """Two columns that hold the same things. `cost` tells how much is guessed.

    `repeats` where one row of the first may meet many of the second.
    """

    one: Place
    other: Place
    cost: float = DECLARED
    repeats: bool = False

    def turned(self) -> "Join":
        return Join(self.other, self.one, self.cost, repeats=not self.repeats)


class Joins:
    """All ways from one table to another; the cheapest is taken."""

    def __init__(self, schema: Schema, names: Names) -> None:
        self._edges: dict[str, list[Join]] = {table.name: [] for table in schema.tables}
        self.all = tuple(_joins(schema, names))
        for join in self.all:
            self._edges[join.one.table].append(join)
            self._edges[join.other.table].append(join.turned())
        for edges in self._edges.values():
            edges.sort(key=lambda join: join.cost)

    def between(self, one: str, other: str) -> Join | None:
        return next((join for join in self._edges[one] if join.other.table == other), None)

    def connecting(self, tables: tuple[str, ...]) -> tuple[Join, ...] | None:
        """The joins that bring the tables together, each after one that reaches it; None when nothing does."""
        reached, path = [tables[0]], list[Join]()
        for table in tables[1:]:
            if table in reached:
                continue
            way = self._way(reached, table)
            if way is None:
                return None
            path.extend(way)
            reached.extend(join.other.table for join in way)
        return tuple(path)

    def _way(self, reached: list[str], goal: str) -> list[Join] | None:
        best: dict[str, tuple[float, list[Join]]] = {table: (0.0, []) for table in reached}
        waiting = deque(reached)
        while waiting:
            table = waiting.popleft()
            cost, way = best[table]
            for join in self._edges[table]:
                there = join.other.table
                if there not in best or cost + join.cost < best[there][0]:
                    best[there] = (cost + join.cost, [*way, join])
                    waiting.append(there)
        return best[goal][1] if goal in best else None


def _joins(schema: Schema, names: Names) -> Iterator[Join]:
    """For two tables the strongest evidence there is. Guesses are made only where nothing is declared."""
    declared = {
        (table.name, each.name): join
        for table in schema.tables
        for reference in table.references
        if (join := _declared(schema, table, reference.column, reference.table, reference.target))
        for each in table.columns
        if each.name == join.one.column
    }
    yield from declared.values()
    if len(schema.tables) > _MOST_TABLES:
        return
    for table in schema.tables:
        for column in table.columns:
            if (table.name, column.name) not in declared:
                yield from _guessed(schema, names, table, column)


def _declared(schema: Schema, table: Table, column: str, target_table: str, target: str) -> Join | None:
    here, there = table.column(column), schema.table(target_table)
    goal = there.column(target) if there else None
    if here is None or there is None or goal is None or there.name == table.name:
        return None
    return Join(Place(table.name, here.name), Place(there.name, goal.name))


def _guessed(schema: Schema, names: Names, table: Table, column: Column) -> Iterator[Join]:
    for there in schema.tables:
        if there.name == table.name:
            continue
        here = Place(table.name, column.name)
        key, naming = names.own_key(there), names.title(there)
        if key and _points_at(column, there, key):
            yield Join(here, Place(there.name, key.name), SAME_NAME)
        elif (same := there.column(column.name)) and _is_telling(same, column):
            yield Join(here, Place(there.name, same.name), SAME_NAME if same in naming else SHARED - 0.5)
        elif len(naming) == 1 and _held_by(column, naming[0]):
            yield Join(here, Place(there.name, naming[0].name), SAME_VALUES)


def _points_at(column: Column, there: Table, key: Column) -> bool:
    """`merchant_id` points at the key of merchants, `sbTxCustId` at `sbCustId`, `pid` at `pid`."""
    here, goal = parts(column.name), parts(key.name)
    if here == goal:
        return here != ("id",)
    if here[-1] == "id" and len(here) > 1 and len(parts(there.name)) == 1:
        return parts(there.name)[0].startswith(here[-2])
    return len(here) >= len(goal) > _PAIR and here[-_PAIR:] == goal[-_PAIR:]


def _is_telling(same: Column, column: Column) -> bool:
    """Whether two columns of one name hold one thing: identifiers and names of things do, `status` does not."""
    words = parts(column.name)
    return len(words) > 1 and words[-1] in {"id", "name"} and same.kind is column.kind


def _held_by(column: Column, naming: Column) -> bool:
    """Whether all of a column's values are names of the other table's rows."""
    if column.kind is not Kind.TEXT or not (column.complete and naming.complete) or len(column.values) < _ENOUGH:
        return False
    known = set(naming.values)
    return sum(value in known for value in column.values) >= 0.9 * len(column.values)
