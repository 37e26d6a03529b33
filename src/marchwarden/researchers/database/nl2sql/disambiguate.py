"""Choose what the words of a question mean together: well-fitting names, close to each other, in few tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from marchwarden.researchers.database.nl2sql.joins import DECLARED, ColumnRef, Join
from marchwarden.researchers.database.nl2sql.meanings import MeaningIndex, SchemaMeaning
from marchwarden.researchers.database.nl2sql.sketch import Sketch

_BEAM_WIDTH: Final = 60
_EXTRA_TABLE_COST: Final = 0.35
_GUESSED_JOIN_COST: Final = 0.3
_REDUNDANT_COST: Final = 1.0
_CROWDED_COST: Final = 0.5


@dataclass(frozen=True)
class Interpretation:
    """One meaning for each slot and the joins between their tables. A lower `cost` is more likely."""

    meanings: tuple[SchemaMeaning, ...]
    joins: tuple[Join, ...]
    cost: float

    @property
    def tables(self) -> tuple[str, ...]:
        first = self.meanings[0].table if self.meanings else ""
        return tuple(dict.fromkeys([first, *(join.other.table for join in self.joins)]))


def rank_interpretations(sketch: Sketch, meanings: MeaningIndex) -> list[Interpretation]:
    """Return the possible interpretations, cheapest first. Empty if the tables cannot be joined."""
    partial: list[tuple[float, tuple[SchemaMeaning, ...]]] = [(0.0, ())]
    for slot in range(len(sketch.slots)):
        grown = [(cost + _added_cost(sketch, chosen, slot, each), (*chosen, each)) for cost, chosen in partial
                 for each in sketch.slots[slot].meanings]  # fmt: skip
        partial = sorted(grown, key=lambda each: each[0])[:_BEAM_WIDTH]
    return sorted(_with_joins(sketch, meanings, partial), key=lambda interpretation: interpretation.cost)


def _added_cost(sketch: Sketch, chosen: tuple[SchemaMeaning, ...], slot: int, meaning: SchemaMeaning) -> float:
    cost = 1 - meaning.fit
    tables = {each.table for each in chosen}
    if tables and meaning.table not in tables and slot not in sketch.missing:
        cost += _EXTRA_TABLE_COST
    for link in sketch.slot_links:
        if link.other == slot and chosen[link.one].table != meaning.table:
            cost += link.strength
    return cost


def _with_joins(
    sketch: Sketch, meanings: MeaningIndex, partial: Sequence[tuple[float, tuple[SchemaMeaning, ...]]]
) -> Iterator[Interpretation]:
    for cost, chosen in partial:
        needed = [each.table for slot, each in enumerate(chosen) if slot not in sketch.missing]
        absent = {chosen[slot].table for slot in sketch.missing}
        if (
            not needed
            or absent & set(needed)
            or not _is_possible(sketch, chosen, meanings)
            or (joins := meanings.joins.connect(tuple(dict.fromkeys(needed)))) is None
        ):
            continue
        between = len(joins) + 1 - len(set(needed))
        guessed = sum(join.cost - DECLARED for join in joins)
        join_cost = _EXTRA_TABLE_COST * between + _GUESSED_JOIN_COST * guessed
        yield Interpretation(chosen, joins, cost + join_cost + _implausibility(sketch, chosen, meanings))


def _is_possible(sketch: Sketch, chosen: tuple[SchemaMeaning, ...], meanings: MeaningIndex) -> bool:
    measured = [link for link in sketch.slot_links if link.measured]
    return all(_can_have(chosen[link.one], chosen[link.other], meanings) for link in measured) and all(
        chosen[one].table == chosen[other].table and chosen[one].column_ref != chosen[other].column_ref
        for one, other in sketch.apart
    )


def _can_have(thing: SchemaMeaning, measure: SchemaMeaning, meanings: MeaningIndex) -> bool:
    """A city has a population. The name of a state in a table of cities has none."""
    names_row = (
        not thing.column
        or thing.column in meanings.display_columns(thing.table)
        or meanings.is_measure(meanings.column(thing.column_ref))
    )
    return names_row or thing.table != measure.table


def _implausibility(sketch: Sketch, chosen: tuple[SchemaMeaning, ...], meanings: MeaningIndex) -> float:
    return _redundancy_cost(sketch, chosen, meanings) + _crowding_cost(sketch, chosen)


def _redundancy_cost(sketch: Sketch, chosen: tuple[SchemaMeaning, ...], meanings: MeaningIndex) -> float:
    """Penalise a value of the kind asked for: in `states the Mississippi runs through`, Mississippi is the river."""
    given = {chosen[slot].column_ref for slot in sketch.values if slot not in sketch.named}
    others = set(range(len(chosen))) - {*sketch.values, *sketch.excluded}
    mentioned = {column_ref for slot in others for column_ref in _naming_columns(chosen[slot], meanings)}
    return _REDUNDANT_COST * len(mentioned & given)


def _naming_columns(meaning: SchemaMeaning, meanings: MeaningIndex) -> Iterator[ColumnRef]:
    for column in (meaning.column,) if meaning.column else meanings.display_columns(meaning.table):
        yield ColumnRef(meaning.table, column)


def _crowding_cost(sketch: Sketch, chosen: tuple[SchemaMeaning, ...]) -> float:
    """Two adjacent values, like a town and its country, seldom belong to one column."""
    return _CROWDED_COST * sum(chosen[one].column_ref == chosen[one + 1].column_ref for one in sketch.crowded)
