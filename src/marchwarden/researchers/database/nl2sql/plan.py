"""Turns a sketch and the meanings chosen for it into a query; None where the two make no sense together."""

from collections import defaultdict
from dataclasses import replace

from marchwarden.researchers.database.models import Kind
from marchwarden.researchers.database.nl2sql.disambiguate import Choice
from marchwarden.researchers.database.nl2sql.joins import Join, Place
from marchwarden.researchers.database.nl2sql.lexicon import Fold
from marchwarden.researchers.database.nl2sql.meanings import Meaning, Meanings
from marchwarden.researchers.database.nl2sql.names import spoken
from marchwarden.researchers.database.nl2sql.query import Absence, Asked, Condition, Having, Ordering, Term
from marchwarden.researchers.database.nl2sql.sketch import Order, Sketch, Test, Wish


class Settling:
    """One sketch with one choice of meanings."""

    def __init__(self, sketch: Sketch, choice: Choice, meanings: Meanings) -> None:
        self._sketch, self._choice, self._meanings = sketch, choice, meanings

    def asked(self) -> Asked | None:
        sketch = self._sketch
        shown = tuple(self._term(wish) for wish in sketch.shown)
        ordering, within = self._ordering(sketch.order), self._ordering(sketch.outer)
        having, absences, conditions = self._having(), self._absences(), self._conditions()
        if not shown or absences is None or conditions is None or not _is_sensible(ordering, within):
            return None
        if ordering and within:
            ordering = replace(ordering, only_extreme=False, limit=1)
        groups = self._groups(shown, folded=bool(having or (ordering and ordering.term.fold)))
        folded = any(term.fold for term in shown)
        if (having and folded) or (ordering and _is_astray(ordering, shown, groups)):
            return None
        shown = (*(term for term in map(self._group, sketch.groups) if not term.is_among(shown)), *shown)
        if ordering and self._shows_measure(shown, ordering):
            shown = (*shown, ordering.term)
        return Asked(
            table=self._choice.tables[0],
            joins=self._choice.joins,
            shown=shown,
            groups=groups,
            conditions=conditions,
            absences=absences,
            having=having,
            ordering=ordering,
            within=within,
            about=self._about(),
            once=self._once(shown) if not groups else "",
            either=sketch.either,
        )

    def _group(self, slot: int) -> Term:
        return self._term(Wish(slot))

    def _groups(self, shown: tuple[Term, ...], *, folded: bool) -> tuple[Term, ...]:
        """What the question groups by, and whatever else is shown plainly beside something folded."""
        folds = any(term.fold for term in shown)
        if not folded and not folds:
            return ()
        groups = tuple(map(self._group, self._sketch.groups))
        if folds and not groups and all(term.fold for term in shown):
            return ()
        return (*groups, *(term for term in shown if not term.fold and not term.is_among(groups)))

    def _once(self, shown: tuple[Term, ...]) -> str:
        """The key of what is added up, where it is joined to something that repeats it."""
        summed = {term.table for term in shown if term.fold in {Fold.SUM, Fold.AVERAGE}}
        table = self._meanings.schema.table(next(iter(summed), ""))
        if len(summed) != 1 or len(shown) > 1 or table is None or not _is_repeated(table.name, self._choice.joins):
            return ""
        key = self._meanings.names.own_key(table)
        return key.name if key else ""

    def _shows_measure(self, shown: tuple[Term, ...], ordering: Ordering) -> bool:
        """Rows in an order say what they are ordered by, unless the question named the columns it wants."""
        if self._sketch.order is None or self._sketch.order.only_extreme:
            return False
        entities = all(not self._choice.meanings[wish.slot].column for wish in self._sketch.shown)
        return entities and not ordering.term.is_among(shown)

    def _term(self, wish: Wish) -> Term:
        meaning = self._choice.meanings[wish.slot]
        label = self._label(wish.slot)
        if wish.rows:
            return Term(meaning.table, (), label, Fold.COUNT)
        if wish.fold is Fold.COUNT and meaning.column and self._is_number(meaning):
            return Term(meaning.table, (meaning.column,), label, Fold.SUM)
        if wish.fold is Fold.COUNT:
            return self._count(meaning.table, meaning.column, label)
        columns = (meaning.column,) if meaning.column else self._meanings.naming(meaning.table)
        column = self._meanings.column(Place(meaning.table, columns[0]))
        written = column.kind is Kind.TEXT and self._meanings.is_measure(column)
        thing = not meaning.column
        return Term(meaning.table, columns, label, wish.fold, key=self._key_of(meaning), written=written, thing=thing)

    def _is_number(self, meaning: Meaning) -> bool:
        column = self._meanings.column(meaning.place)
        return column.kind is Kind.NUMBER and self._meanings.is_measure(column)

    def _label(self, slot: int) -> str:
        """The question's own words; for a measure it only implied, the column's name and what it is of."""
        text, meaning = self._sketch.slots[slot].text, self._choice.meanings[slot]
        if not self._sketch.slots[slot].implied:
            return f"{self._sketch.slots[slot].said} {text}".strip()
        return f"{spoken(meaning.column)} of {text}" if text else spoken(meaning.column)

    def _key_of(self, meaning: Meaning) -> str:
        table = self._meanings.schema.table(meaning.table)
        keys = [each.name for each in table.columns if each.is_key] if table and not meaning.column else []
        return keys[0] if len(keys) == 1 else ""

    def _count(self, table: str, column: str, label: str) -> Term:
        """Things are counted once each, however often joins repeat them."""
        if column:
            return Term(table, (column,), label, Fold.COUNT, distinct=True)
        found = self._meanings.schema.table(table)
        assert found is not None, table
        tally = next(
            (each for each in found.columns if each.name.casefold() == "count" and each.kind is Kind.NUMBER), None
        )
        if tally:
            return Term(table, (tally.name,), label, Fold.SUM)
        if not self._choice.joins:
            return Term(table, (), label, Fold.COUNT, thing=True)
        key = self._meanings.names.key(found).name
        return Term(table, (key,), label, Fold.COUNT, distinct=True, thing=True)

    def _conditions(self) -> tuple[Condition, ...] | None:
        same: dict[tuple[Place, str], list[str]] = defaultdict(list)
        for slots, signs in ((self._sketch.values, ("=", "LIKE")), (self._sketch.excluded, ("<>", "NOT LIKE"))):
            for slot in slots:
                meaning = self._choice.meanings[slot]
                texts = [f"%{value}%" for value in meaning.values] if meaning.part else meaning.values
                same[meaning.place, signs[meaning.part or meaning.unseen]].extend(texts)
        values = [
            Condition(place, self._called(place), sign, tuple(dict.fromkeys(texts)))
            for (place, sign), texts in same.items()
        ]
        tested = [self._tested(test) for test in self._sketch.tests if not test.counted]
        possible = [each for each in tested if each]
        return (*values, *possible) if len(possible) == len(tested) else None

    def _tested(self, test: Test) -> Condition | None:
        meaning = self._choice.meanings[test.slot]
        place = Place(meaning.table, meaning.column or self._meanings.naming(meaning.table)[0])
        column, label = self._meanings.column(place), self._called(place)
        if test.truth is not None:
            told = self._meanings.truth(place, wanted=test.truth) or ""
            bare = column.kind is not Kind.TEXT
            return Condition(place, label, "=", () if bare else (told,), bare=told if bare else "")
        if test.span:
            return Condition(place, label, test.sign, span=test.span, years=column.kind is Kind.NUMBER)
        if column.kind is Kind.TEXT and test.numbers and test.sign == "=":
            return Condition(place, label, "=", tuple(f"{number:g}" for number in test.numbers))
        written = column.kind is Kind.TEXT and self._meanings.is_measure(column)
        if not (column.kind is Kind.TEXT if test.pattern else column.kind is Kind.NUMBER or written):
            return None
        return Condition(
            place, label, test.sign, (test.pattern,) if test.pattern else (), test.numbers, written=written
        )

    def _called(self, place: Place) -> str:
        """A thing's name is the thing: not "whose name is AC/DC" but "whose artist is AC/DC"."""
        if self._meanings.naming(place.table) == (place.column,):
            return self._meanings.names.called(place.table)
        return spoken(place.column)

    def _about(self) -> tuple[str, ...]:
        sketch = self._sketch
        used = sketch.used()
        implied = {slot.text for slot in sketch.slots if slot.implied}
        things = ((at, slot.text) for at, slot in enumerate(sketch.slots) if at not in used and not slot.implied)
        named = {sketch.slots[at].text for at in used}
        return tuple(
            dict.fromkeys(
                self._label(at) for at, text in things if text not in named | implied or sketch.slots[at].said
            )
        )

    def _having(self) -> tuple[Having, ...]:
        counted = (test for test in self._sketch.tests if test.counted)
        return tuple(Having(self._term(Wish(test.slot, Fold.COUNT)), test.sign, test.numbers) for test in counted)

    def _absences(self) -> tuple[Absence, ...] | None:
        found = []
        for slot in self._sketch.missing:
            table = self._choice.meanings[slot].table
            here = next((each for each in self._choice.tables if each != table), "")
            join = self._meanings.joins.between(here, table) if here else None
            if join is None:
                return None
            found.append(Absence(join, self._sketch.slots[slot].text))
        return tuple(found)

    def _ordering(self, order: Order | None) -> Ordering | None:
        if order is None:
            return None
        term = self._term(order.wish)
        if term.fold is Fold.SUM and all(
            self._choice.meanings[wish.slot].table == term.table for wish in self._sketch.shown
        ):
            term = replace(term, fold=None)
        if term.fold and order.only_extreme:
            return Ordering(term, order.descending, 1, only_extreme=False, said=order.said, implied=order.wish.rows)
        implied = order.wish.rows or self._sketch.slots[order.wish.slot].implied
        if implied and term.columns:
            term = replace(term, label=spoken(term.columns[0]))
        return Ordering(term, order.descending, order.limit, order.only_extreme, order.said, implied)


def _is_sensible(ordering: Ordering | None, within: Ordering | None) -> bool:
    """Of two superlatives, one within the other, neither may count."""
    return not (ordering and within and (ordering.term.fold or within.term.fold))


def _is_astray(ordering: Ordering, shown: tuple[Term, ...], groups: tuple[Term, ...]) -> bool:
    """Rows that are folded into one, or grouped, have no order by something else of theirs."""
    if ordering.only_extreme:
        return bool(groups)
    return not ordering.term.fold and any(term.fold for term in shown) and not ordering.term.is_among(groups)


def _is_repeated(table: str, joins: tuple[Join, ...]) -> bool:
    """Whether a row of a table meets many of another on the way through the joins."""
    reached, left = {table}, list(joins)
    while left:
        turned = [(join if join.one.table in reached else join.turned(), join) for join in left]
        way, join = next((pair for pair in turned if pair[0].one.table in reached), (None, None))
        if way is None or join is None or way.repeats:
            return way is not None and way.repeats
        reached.add(way.other.table)
        left.remove(join)
    return False
