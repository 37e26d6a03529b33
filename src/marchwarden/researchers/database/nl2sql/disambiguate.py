"""Chooses what the words of a question mean together: the best names, close to each other, in the fewest tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from marchwarden.researchers.database.nl2sql.joins import DECLARED, Join, Place
from marchwarden.researchers.database.nl2sql.meanings import Meaning, Meanings
from marchwarden.researchers.database.nl2sql.sketch import Sketch

_BEAM: Final = 60
_TABLE: Final = 0.35
_GUESS: Final = 0.3
_POINTLESS: Final = 1.0
_CROWDED: Final = 0.5


@dataclass(frozen=True)
class Choice:
    """One meaning a slot, the joins that bring their tables together, and what is held against them."""

    meanings: tuple[Meaning, ...]
    joins: tuple[Join, ...]
    cost: float

    @property
    def tables(self) -> tuple[str, ...]:
        first = self.meanings[0].table if self.meanings else ""
        return tuple(dict.fromkeys([first, *(join.other.table for join in self.joins)]))


def choices(sketch: Sketch, meanings: Meanings) -> list[Choice]:
    """The cheapest first; none where the tables cannot be brought together."""
    partial: list[tuple[float, tuple[Meaning, ...]]] = [(0.0, ())]
    for slot in range(len(sketch.slots)):
        grown = [(cost + _added(sketch, chosen, slot, each), (*chosen, each)) for cost, chosen in partial
                 for each in sketch.slots[slot].meanings]  # fmt: skip
        partial = sorted(grown, key=lambda each: each[0])[:_BEAM]
    return sorted(_joined(sketch, meanings, partial), key=lambda choice: choice.cost)


def _added(sketch: Sketch, chosen: tuple[Meaning, ...], slot: int, meaning: Meaning) -> float:
    cost = 1 - meaning.fit
    tables = {each.table for each in chosen}
    if tables and meaning.table not in tables and slot not in sketch.missing:
        cost += _TABLE
    for bond in sketch.bonds:
        if bond.other == slot and chosen[bond.one].table != meaning.table:
            cost += bond.strength
    return cost


def _joined(
    sketch: Sketch, meanings: Meanings, partial: Sequence[tuple[float, tuple[Meaning, ...]]]
) -> Iterator[Choice]:
    for cost, chosen in partial:
        needed = [each.table for slot, each in enumerate(chosen) if slot not in sketch.missing]
        absent = {chosen[slot].table for slot in sketch.missing}
        if (
            not needed
            or absent & set(needed)
            or not _possible(sketch, chosen, meanings)
            or (joins := meanings.joins.connecting(tuple(dict.fromkeys(needed)))) is None
        ):
            continue
        between = len(joins) + 1 - len(set(needed))
        guessed = sum(join.cost - DECLARED for join in joins)
        yield Choice(chosen, joins, cost + _TABLE * between + _GUESS * guessed + _senseless(sketch, chosen, meanings))


def _possible(sketch: Sketch, chosen: tuple[Meaning, ...], meanings: Meanings) -> bool:
    measured = [bond for bond in sketch.bonds if bond.measured]
    return all(_has(chosen[bond.one], chosen[bond.other], meanings) for bond in measured) and all(
        chosen[one].table == chosen[other].table and chosen[one].place != chosen[other].place
        for one, other in sketch.apart
    )


def _has(thing: Meaning, measure: Meaning, meanings: Meanings) -> bool:
    """A city has its population; the name of a state in a table of cities has none."""
    own = (
        not thing.column
        or thing.column in meanings.naming(thing.table)
        or meanings.is_measure(meanings.column(thing.place))
    )
    return own or thing.table != measure.table


def _senseless(sketch: Sketch, chosen: tuple[Meaning, ...], meanings: Meanings) -> float:
    return _pointless(sketch, chosen, meanings) + _crowded(sketch, chosen)


def _pointless(sketch: Sketch, chosen: tuple[Meaning, ...], meanings: Meanings) -> float:
    """Who asks for states seldom names one: `states the Mississippi runs through` means the river."""
    given = {chosen[slot].place for slot in sketch.values if slot not in sketch.named}
    others = set(range(len(chosen))) - {*sketch.values, *sketch.excluded}
    spoken_of = {place for slot in others for place in _named_by(chosen[slot], meanings)}
    return _POINTLESS * len(spoken_of & given)


def _named_by(meaning: Meaning, meanings: Meanings) -> Iterator[Place]:
    for column in (meaning.column,) if meaning.column else meanings.naming(meaning.table):
        yield Place(meaning.table, column)


def _crowded(sketch: Sketch, chosen: tuple[Meaning, ...]) -> float:
    """Two values side by side, like a town and its country, are seldom of one column."""
    return _CROWDED * sum(chosen[one].place == chosen[one + 1].place for one in sketch.crowded)
