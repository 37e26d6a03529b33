"""Build a query from a sketch and the meanings chosen for its words."""

from collections import defaultdict
from dataclasses import replace

from marchwarden.researchers.database.models import ColumnKind
from marchwarden.researchers.database.nl2sql.disambiguate import Interpretation
from marchwarden.researchers.database.nl2sql.joins import ColumnRef, Join
from marchwarden.researchers.database.nl2sql.lexicon import Aggregate
from marchwarden.researchers.database.nl2sql.meanings import MeaningIndex, SchemaMeaning
from marchwarden.researchers.database.nl2sql.names import name_in_words
from marchwarden.researchers.database.nl2sql.query import Absence, Condition, Having, Ordering, SelectQuery, Term
from marchwarden.researchers.database.nl2sql.sketch import Order, Sketch, SketchTerm, SlotComparison


class QueryPlanner:
    """Builds the query for one sketch and one interpretation of it."""

    def __init__(self, sketch: Sketch, interpretation: Interpretation, meanings: MeaningIndex) -> None:
        self._sketch, self._interpretation, self._meanings = sketch, interpretation, meanings

    def build(self) -> SelectQuery | None:
        """Return the query, or None if the sketch and the meanings do not fit together."""
        sketch = self._sketch
        shown = tuple(self._term(term) for term in sketch.shown)
        ordering, then_by = self._ordering(sketch.order), self._ordering(sketch.outer)
        having, absences, conditions = self._having(), self._absences(), self._conditions()
        if not shown or absences is None or conditions is None or not _is_sensible(ordering, then_by):
            return None
        if ordering and then_by:
            ordering = replace(ordering, only_extreme=False, limit=1)
        groups = self._groups(shown, aggregated=bool(having or (ordering and ordering.term.aggregate)))
        aggregated = any(term.aggregate for term in shown)
        if (having and aggregated) or (ordering and _is_misplaced(ordering, shown, groups)):
            return None
        shown = (*(term for term in map(self._group, sketch.groups) if not term.is_among(shown)), *shown)
        if ordering and self._shows_measure(shown, ordering):
            shown = (*shown, ordering.term)
        return SelectQuery(
            table=self._interpretation.tables[0],
            joins=self._interpretation.joins,
            shown=shown,
            groups=groups,
            conditions=conditions,
            absences=absences,
            having=having,
            ordering=ordering,
            then_by=then_by,
            about=self._about(),
            unique_key=self._unique_key(shown) if not groups else "",
            either=sketch.either,
        )

    def _group(self, slot: int) -> Term:
        return self._term(SketchTerm(slot))

    def _groups(self, shown: tuple[Term, ...], *, aggregated: bool) -> tuple[Term, ...]:
        """What the question groups by, and every other column shown next to an aggregate."""
        shows_aggregate = any(term.aggregate for term in shown)
        if not aggregated and not shows_aggregate:
            return ()
        groups = tuple(map(self._group, self._sketch.groups))
        if shows_aggregate and not groups and all(term.aggregate for term in shown):
            return ()
        return (*groups, *(term for term in shown if not term.aggregate and not term.is_among(groups)))

    def _unique_key(self, shown: tuple[Term, ...]) -> str:
        """The primary key of the rows in a sum or average, if joins would repeat these rows."""
        summed = {term.table for term in shown if term.aggregate in {Aggregate.SUM, Aggregate.AVERAGE}}
        table = self._meanings.schema.table(next(iter(summed), ""))
        if (
            len(summed) != 1
            or len(shown) > 1
            or table is None
            or not _is_repeated(table.name, self._interpretation.joins)
        ):
            return ""
        key = self._meanings.names.primary_key(table)
        return key.name if key else ""

    def _shows_measure(self, shown: tuple[Term, ...], ordering: Ordering) -> bool:
        """Whether to show the measure that rows are ordered by: yes, unless the question names the columns to show."""
        if self._sketch.order is None or self._sketch.order.only_extreme:
            return False
        entities = all(not self._interpretation.meanings[term.slot].column for term in self._sketch.shown)
        return entities and not ordering.term.is_among(shown)

    def _term(self, term: SketchTerm) -> Term:
        meaning = self._interpretation.meanings[term.slot]
        label = self._label(term.slot)
        if term.rows:
            return Term(meaning.table, (), label, Aggregate.COUNT)
        if term.aggregate is Aggregate.COUNT and meaning.column and self._is_number(meaning):
            return Term(meaning.table, (meaning.column,), label, Aggregate.SUM)
        if term.aggregate is Aggregate.COUNT:
            return self._count(meaning.table, meaning.column, label)
        columns = (meaning.column,) if meaning.column else self._meanings.display_columns(meaning.table)
        column = self._meanings.column(ColumnRef(meaning.table, columns[0]))
        return Term(
            meaning.table,
            columns,
            label,
            term.aggregate,
            key=self._key_of(meaning),
            stored_as_text=column.kind is ColumnKind.TEXT and self._meanings.is_measure(column),
            is_entity=not meaning.column,
        )

    def _is_number(self, meaning: SchemaMeaning) -> bool:
        column = self._meanings.column(meaning.column_ref)
        return column.kind is ColumnKind.NUMBER and self._meanings.is_measure(column)

    def _label(self, slot: int) -> str:
        """The words of the question. For an implied measure, the name of the column and what it measures."""
        text, meaning = self._sketch.slots[slot].text, self._interpretation.meanings[slot]
        if not self._sketch.slots[slot].implied:
            return f"{self._sketch.slots[slot].superlative} {text}".strip()
        return f"{name_in_words(meaning.column)} of {text}" if text else name_in_words(meaning.column)

    def _key_of(self, meaning: SchemaMeaning) -> str:
        table = self._meanings.schema.table(meaning.table)
        keys = [each.name for each in table.columns if each.is_key] if table and not meaning.column else []
        return keys[0] if len(keys) == 1 else ""

    def _count(self, table: str, column: str, label: str) -> Term:
        """Count each row once, even if joins repeat it. A table with a column `count` is summed instead."""
        if column:
            return Term(table, (column,), label, Aggregate.COUNT, distinct=True)
        found = self._meanings.schema.table(table)
        assert found is not None, table
        tally = next(
            (each for each in found.columns if each.name.casefold() == "count" and each.kind is ColumnKind.NUMBER), None
        )
        if tally:
            return Term(table, (tally.name,), label, Aggregate.SUM)
        if not self._interpretation.joins:
            return Term(table, (), label, Aggregate.COUNT, is_entity=True)
        key = self._meanings.names.row_key(found).name
        return Term(table, (key,), label, Aggregate.COUNT, distinct=True, is_entity=True)

    def _conditions(self) -> tuple[Condition, ...] | None:
        same: dict[tuple[ColumnRef, str], list[str]] = defaultdict(list)
        for slots, operators in ((self._sketch.values, ("=", "LIKE")), (self._sketch.excluded, ("<>", "NOT LIKE"))):
            for slot in slots:
                meaning = self._interpretation.meanings[slot]
                texts = [f"%{value}%" for value in meaning.values] if meaning.part else meaning.values
                same[meaning.column_ref, operators[meaning.part or meaning.unseen]].extend(texts)
        values = [
            Condition(column_ref, self._column_label(column_ref), operator, tuple(dict.fromkeys(texts)))
            for (column_ref, operator), texts in same.items()
        ]
        compared = [self._condition(each) for each in self._sketch.comparisons if not each.counted]
        possible = [each for each in compared if each]
        return (*values, *possible) if len(possible) == len(compared) else None

    def _condition(self, comparison: SlotComparison) -> Condition | None:
        meaning = self._interpretation.meanings[comparison.slot]
        column_ref = ColumnRef(meaning.table, meaning.column or self._meanings.display_columns(meaning.table)[0])
        column, label = self._meanings.column(column_ref), self._column_label(column_ref)
        if comparison.is_true is not None:
            literal = self._meanings.boolean_literal(column_ref, wanted=comparison.is_true) or ""
            if column.kind is ColumnKind.TEXT:
                return Condition(column_ref, label, "=", (literal,))
            return Condition(column_ref, label, "=", literal=literal)
        if comparison.span:
            return Condition(
                column_ref, label, comparison.operator, span=comparison.span, years=column.kind is ColumnKind.NUMBER
            )
        if column.kind is ColumnKind.TEXT and comparison.numbers and comparison.operator == "=":
            return Condition(column_ref, label, "=", tuple(f"{number:g}" for number in comparison.numbers))
        stored_as_text = column.kind is ColumnKind.TEXT and self._meanings.is_measure(column)
        if not (
            column.kind is ColumnKind.TEXT if comparison.pattern else column.kind is ColumnKind.NUMBER or stored_as_text
        ):
            return None
        return Condition(
            column_ref,
            label,
            comparison.operator,
            (comparison.pattern,) if comparison.pattern else (),
            comparison.numbers,
            stored_as_text=stored_as_text,
        )

    def _column_label(self, column_ref: ColumnRef) -> str:
        """Call a name by its table: "whose artist is AC/DC" instead of "whose name is AC/DC"."""
        if self._meanings.display_columns(column_ref.table) == (column_ref.column,):
            return self._meanings.names.table_label(column_ref.table)
        return name_in_words(column_ref.column)

    def _about(self) -> tuple[str, ...]:
        sketch = self._sketch
        used = sketch.used_slots()
        implied = {slot.text for slot in sketch.slots if slot.implied}
        things = ((at, slot.text) for at, slot in enumerate(sketch.slots) if at not in used and not slot.implied)
        used_texts = {sketch.slots[at].text for at in used}
        return tuple(
            dict.fromkeys(
                self._label(at)
                for at, text in things
                if text not in used_texts | implied or sketch.slots[at].superlative
            )
        )

    def _having(self) -> tuple[Having, ...]:
        counted = (each for each in self._sketch.comparisons if each.counted)
        return tuple(
            Having(self._term(SketchTerm(each.slot, Aggregate.COUNT)), each.operator, each.numbers) for each in counted
        )

    def _absences(self) -> tuple[Absence, ...] | None:
        found = []
        for slot in self._sketch.missing:
            table = self._interpretation.meanings[slot].table
            here = next((each for each in self._interpretation.tables if each != table), "")
            join = self._meanings.joins.between(here, table) if here else None
            if join is None:
                return None
            found.append(Absence(join, self._sketch.slots[slot].text))
        return tuple(found)

    def _ordering(self, order: Order | None) -> Ordering | None:
        if order is None:
            return None
        term = self._term(order.term)
        if term.aggregate is Aggregate.SUM and all(
            self._interpretation.meanings[each.slot].table == term.table for each in self._sketch.shown
        ):
            term = replace(term, aggregate=None)
        if term.aggregate and order.only_extreme:
            return Ordering(
                term, order.descending, 1, only_extreme=False, superlative=order.superlative, implied=order.term.rows
            )
        implied = order.term.rows or self._sketch.slots[order.term.slot].implied
        if implied and term.columns:
            term = replace(term, label=name_in_words(term.columns[0]))
        return Ordering(term, order.descending, order.limit, order.only_extreme, order.superlative, implied)


def _is_sensible(ordering: Ordering | None, then_by: Ordering | None) -> bool:
    """Of two nested superlatives, neither may use an aggregate."""
    return not (ordering and then_by and (ordering.term.aggregate or then_by.term.aggregate))


def _is_misplaced(ordering: Ordering, shown: tuple[Term, ...], groups: tuple[Term, ...]) -> bool:
    """Whether aggregated or grouped rows would be ordered by a column that they no longer have."""
    if ordering.only_extreme:
        return bool(groups)
    return not ordering.term.aggregate and any(term.aggregate for term in shown) and not ordering.term.is_among(groups)


def _is_repeated(table: str, joins: tuple[Join, ...]) -> bool:
    """Whether the joins pair one row of the table with several rows of another."""
    reached, left = {table}, list(joins)
    while left:
        oriented = [(join if join.one.table in reached else join.reverse(), join) for join in left]
        oriented_join, join = next((pair for pair in oriented if pair[0].one.table in reached), (None, None))
        if oriented_join is None or join is None or oriented_join.repeats:
            return oriented_join is not None and oriented_join.repeats
        reached.add(oriented_join.other.table)
        left.remove(join)
    return False
