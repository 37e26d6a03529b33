"""What the words of a question may mean in a schema: tables, columns, and values found in them. Knows no grammar."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from marchwarden.researchers.database.models import Column, Kind, Schema, Table
from marchwarden.researchers.database.nl2sql.joins import Joins, Place
from marchwarden.researchers.database.nl2sql.lexicon import MEASURES
from marchwarden.researchers.database.nl2sql.names import Key, Names
from marchwarden.researchers.database.nl2sql.thesaurus import ALIASES, SYNONYMS
from marchwarden.text.words import WordStemmer, folded, words

LONGEST: Final = 6
_ANY_MEASURE: Final = frozenset({"", "big"})
_YES: Final = frozenset({"1", "y", "yes", "t", "true"})
_NO: Final = frozenset({"0", "n", "no", "f", "false"})
_CLOCK: Final = re.compile(r"time(?!stamp)", re.IGNORECASE)
_NUMERAL: Final = re.compile(r"-?\d{1,18}(\.\d{1,9})?")
_MOST_MEANINGS: Final = 12
_MOST_WORDS: Final = 10
_STANDING: Final = 0.85
_UNSEEN: Final = 0.6
_WELL: Final = 0.92
_WORSE: Final = 0.3


@dataclass(frozen=True)
class Meaning:
    """One thing words may mean: the rows of a table (no column), a column, or a value in it.

    `entity` is the table whose rows the column names: a river's `traverse` names states. `values` are the
    spellings the words go by in the data; `part` says that they are only a part of them, `unseen` that it is a guess.
    """

    table: str
    column: str = ""
    fit: float = 1.0
    entity: str = ""
    values: tuple[str, ...] = ()
    part: bool = False
    unseen: bool = False

    @property
    def place(self) -> Place:
        return Place(self.table, self.column)


class Meanings:
    """Looks words up. Made once for a schema."""

    def __init__(self, schema: Schema, stems: WordStemmer) -> None:
        self.schema, self.stems = schema, stems
        self.names = Names(schema, stems)
        self.joins = Joins(schema, self.names)
        self._nouns: dict[Key, list[Meaning]] = defaultdict(list)
        self._values: dict[Key, list[Meaning]] = defaultdict(list)
        self._words: dict[str, list[tuple[Key, Meaning]]] = defaultdict(list)
        self._synonyms = {
            stem: tuple(map(self._key, meant)) for word, meant in SYNONYMS.items() for stem in self._key(word)
        }
        self._stand_ins = dict(self._standing())
        for table in schema.tables:
            self._learn(table)
        self._learn_stand_ins()

    def nouns(self, key: Key) -> tuple[Meaning, ...]:
        """The tables and columns of this name, the best first."""
        found = self._nouns.get(key, []) or self._nouns.get(self._joined(key), [])
        if not found and len(key) == 1:
            found = [
                replace(each, fit=each.fit - 0.05)
                for meant in self._synonyms.get(key[0], ())
                for each in self._nouns.get(meant, [])
            ]
        return _best(found)

    def values(self, key: Key) -> tuple[Meaning, ...]:
        found = self._values.get(key, [])
        if not found:
            for names in ALIASES:
                if " ".join(key) in names:
                    found = [each for name in sorted(names) for each in self._values.get(tuple(name.split()), [])]
        return _best(_together(found))

    def unseen(self, text: str) -> tuple[Meaning, ...]:
        """Columns of names too many to have been looked at: what is not known may be there."""
        found = (
            Meaning(table.name, column.name, fit=_UNSEEN, values=(text,), unseen=True)
            for table in self.schema.tables
            for column in self.names.title(table)
            if column.kind is Kind.TEXT and not column.complete and table.rows != 0
        )
        return tuple(found)[:_MOST_MEANINGS]

    def partial(self, key: Key) -> tuple[Meaning, ...]:
        """Columns with values these words are a part of: `Ontario` of `Lake Ontario`."""
        found: dict[Place, Meaning] = {}
        for whole, meaning in self._words.get(key[0], []):
            if _contains(whole, key):
                fit = meaning.fit * (0.5 + 0.4 * len(key) / len(whole))
                if meaning.place not in found or found[meaning.place].fit < fit:
                    found[meaning.place] = replace(meaning, fit=fit, values=(" ".join(key),), part=True)
        return _best(found.values())

    def measures(self, hint: str) -> tuple[Meaning, ...]:
        """Columns of the kind an adjective implies; with the vaguest also the only number a table holds."""
        wanted = [self._key(name)[0] for name in MEASURES.get(hint, ())]
        found = []
        for table in self.schema.tables:
            for column in table.columns:
                own = self.names.own(table, column)
                ranks = [wanted.index(word) for word in own if word in wanted]
                if ranks and (hint == "where" or self.is_measure(column)):
                    fit = 0.95 - 0.04 * min(ranks) - 0.02 * (len(own) - 1)
                    found.append(Meaning(table.name, column.name, fit=fit))
            found.extend(self._lone(table, hint, found))
        return tuple(found)

    def moments(self) -> tuple[Meaning, ...]:
        """Columns that hold a date, or the number of a year."""
        found = []
        for table in self.schema.tables:
            rank = 0
            for column in table.columns:
                years = column.kind is Kind.NUMBER and "year" in self.names.own(table, column)
                if years or (column.kind is Kind.MOMENT and not _CLOCK.match(column.declared)):
                    found.append(Meaning(table.name, column.name, fit=0.95 - 0.05 * rank))
                    rank += 1
        return tuple(found)

    def column(self, place: Place) -> Column:
        table = self.schema.table(place.table)
        column = table.column(place.column) if table else None
        assert column is not None, place
        return column

    def is_measure(self, column: Column) -> bool:
        measured = column.kind in {Kind.NUMBER, Kind.MOMENT} or _is_written_number(column)
        return measured and not self.names.is_identifier(column)

    def is_truth(self, meaning: Meaning) -> bool:
        """Whether a word names a column that says yes or no of a row, and names it well."""
        named = bool(meaning.column) and meaning.fit > _WELL
        return named and self.truth(meaning.place, wanted=True) is not None

    def truth(self, place: Place, *, wanted: bool) -> str | None:
        """How a column writes yes or no; None when it holds something else."""
        column = self.column(place)
        if column.kind is Kind.TRUTH:
            return "TRUE" if wanted else "FALSE"
        if not column.complete or not column.values or not {each.casefold() for each in column.values} <= _YES | _NO:
            return None
        return next((each for each in column.values if (each.casefold() in _YES) == wanted), None)

    def is_relation(self, meaning: Meaning) -> bool:
        """Whether a column tells what a row has to do with others, like `border` and `traverse`: it reads as a verb."""
        entity = self._stand_ins.get(meaning.place, "")
        return bool(entity) and not set(self._key(meaning.column)) & set(self._key(entity))

    def places(self, found: Iterable[Meaning]) -> frozenset[Place]:
        """The columns in which things called so have their names."""
        return frozenset(
            Place(each.table, column)
            for each in found
            for column in ((each.column,) if each.column else self.naming(each.table))
        )

    def _title(self, table: str) -> tuple[str, ...]:
        found = self.schema.table(table)
        return tuple(each.name for each in self.names.title(found)) if found else ()

    def naming(self, table: str) -> tuple[str, ...]:
        found = self.schema.table(table)
        assert found is not None, table
        return tuple(each.name for each in self.names.naming(found))

    def _lone(self, table: Table, hint: str, found: Sequence[Meaning]) -> list[Meaning]:
        measures = [each for each in table.columns if each.kind is Kind.NUMBER and self.is_measure(each)]
        if hint in _ANY_MEASURE and len(measures) == 1 and not any(each.table == table.name for each in found):
            return [Meaning(table.name, measures[0].name, fit=0.6)]
        return []

    def _learn(self, table: Table) -> None:
        title = self.names.title(table)
        links = not title and self.names.own_key(table) is None
        for named in self.names.of_table(table):
            # A table that merely links others is not the things it links.
            fit = named.fit - 0.3 if links and named.fit < 1 else named.fit
            self._add(named.key, Meaning(table.name, fit=fit))
        for column in table.columns:
            for named in self.names.of_column(table, column):
                self._add(named.key, Meaning(table.name, column.name, fit=named.fit))
            if column.kind in {Kind.TEXT, Kind.OTHER}:
                # Whichever table is spoken of, one of few rows is likelier meant than one of many.
                stands = Place(table.name, column.name) in self._stand_ins
                fit = (1.0 if column in title else 0.95 if stands else 0.9) - 0.01 * len(str(table.rows or 0))
                for value in column.values:
                    self._learn_value(value, Meaning(table.name, column.name, fit=fit, values=(value,)))

    def _learn_value(self, value: str, meaning: Meaning) -> None:
        plain = tuple(words(value))
        if not 0 < len(plain) <= _MOST_WORDS:
            return
        self._values[plain].append(meaning)
        if (stemmed := self._key(value)) != plain:
            self._values[stemmed].append(replace(meaning, fit=meaning.fit - 0.1))
        for word in dict.fromkeys(plain if len(plain) > 1 else ()):
            self._words[word].append((plain, meaning))

    def _learn_stand_ins(self) -> None:
        """Where a column holds the names of another table's rows, it may be called by that table's name."""
        for here, entity in self._stand_ins.items():
            table = self.schema.table(entity)
            for named in self.names.of_table(table) if table else ():
                self._add(named.key, Meaning(here.table, here.column, fit=named.fit * _STANDING, entity=entity))

    def _standing(self) -> Iterator[tuple[Place, str]]:
        for join in self.joins.all:
            for here, there in ((join.one, join.other), (join.other, join.one)):
                if self._title(there.table) == (there.column,) and self._title(here.table) != (here.column,):
                    yield here, there.table

    def _add(self, key: Key, meaning: Meaning) -> None:
        for each in {key, self._joined(key)}:
            known = self._nouns[each]
            same = next((old for old in known if old.place == meaning.place), None)
            if same is None:
                known.append(meaning)
            elif (same.fit, bool(same.entity)) < (meaning.fit, bool(meaning.entity)) or meaning.entity:
                known[known.index(same)] = replace(meaning, fit=max(same.fit, meaning.fit))

    def _joined(self, key: Key) -> Key:
        """`check ins` and `checkin`, `user name` and `username` are the same."""
        return self._key("".join(key))

    def _key(self, text: str) -> Key:
        return self.stems.of_everything(folded(text))


def _is_written_number(column: Column) -> bool:
    """Whether a text column holds nothing but numbers."""
    return column.kind is Kind.TEXT and len(column.values) > 1 and all(map(_NUMERAL.fullmatch, column.values))


def _together(found: Iterable[Meaning]) -> list[Meaning]:
    """One meaning a column: `Luis` and `Luís` are the same to who asks."""
    places: dict[Place, Meaning] = {}
    for each in found:
        known = places.setdefault(each.place, each)
        if known is not each:
            values = tuple(dict.fromkeys((*known.values, *each.values)))
            places[each.place] = replace(known, fit=max(known.fit, each.fit), values=values)
    return list(places.values())


def _best(found: Iterable[Meaning]) -> tuple[Meaning, ...]:
    ranked = sorted(found, key=lambda each: -each.fit)
    return tuple(each for each in ranked if each.fit >= ranked[0].fit - _WORSE)[:_MOST_MEANINGS]


def _contains(whole: Key, key: Key) -> bool:
    return any(whole[at : at + len(key)] == key for at in range(len(whole) - len(key) + 1))
