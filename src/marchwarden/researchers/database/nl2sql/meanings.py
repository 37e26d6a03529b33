"""Look up what words mean in a schema: tables, columns, and values found in them. Does not know grammar."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from marchwarden.researchers.database.models import Column, ColumnKind, Schema, Table
from marchwarden.researchers.database.nl2sql.joins import ColumnRef, JoinGraph
from marchwarden.researchers.database.nl2sql.lexicon import load_lexicon
from marchwarden.researchers.database.nl2sql.names import Key, SchemaNames
from marchwarden.researchers.database.nl2sql.thesaurus import load_thesaurus
from marchwarden.text.words import WordStemmer, folded, words

MAX_PHRASE_WORDS: Final = 6
_ANY_MEASURE: Final = frozenset({"", "big"})
_YES: Final = frozenset({"1", "y", "yes", "t", "true"})
_NO: Final = frozenset({"0", "n", "no", "f", "false"})
_TIME_OF_DAY: Final = re.compile(r"time(?!stamp)", re.IGNORECASE)
_NUMERAL: Final = re.compile(r"-?\d{1,18}(\.\d{1,9})?")
_MAX_MEANINGS: Final = 12
_MAX_VALUE_WORDS: Final = 10
_STAND_IN_FIT: Final = 0.85
_UNSEEN_FIT: Final = 0.6
_GOOD_FIT: Final = 0.92
_MAX_FIT_LOSS: Final = 0.3


@dataclass(frozen=True)
class SchemaMeaning:
    """One possible meaning of words: the rows of a table (no column), a column, or a value in it.

    `entity` is the table whose rows the column names: the column `traverse` of a river names states. `values` are the
    spellings in the data. `part` says that the words are only a part of these values, `unseen` that the value was not
    seen and is a guess.
    """

    table: str
    column: str = ""
    fit: float = 1.0
    entity: str = ""
    values: tuple[str, ...] = ()
    part: bool = False
    unseen: bool = False

    @property
    def column_ref(self) -> ColumnRef:
        return ColumnRef(self.table, self.column)


class MeaningIndex:
    """Index of everything the words of a question can mean in one schema."""

    def __init__(self, schema: Schema, stems: WordStemmer) -> None:
        self.schema, self.stems = schema, stems
        self.names = SchemaNames(schema, stems)
        self.joins = JoinGraph(schema, self.names)
        self._nouns: dict[Key, list[SchemaMeaning]] = defaultdict(list)
        self._values: dict[Key, list[SchemaMeaning]] = defaultdict(list)
        self._words: dict[str, list[tuple[Key, SchemaMeaning]]] = defaultdict(list)
        self._synonyms = {
            stem: tuple(map(self._key, synonyms))
            for word, synonyms in load_thesaurus().synonyms.items()
            for stem in self._key(word)
        }
        self._stand_ins = dict(self._find_stand_ins())
        for table in schema.tables:
            self._index_table(table)
        self._index_stand_ins()

    def find_nouns(self, key: Key) -> tuple[SchemaMeaning, ...]:
        """Return the tables and columns with this name, best fit first."""
        found = self._nouns.get(key, []) or self._nouns.get(self._as_one_word(key), [])
        if not found and len(key) == 1:
            found = [
                replace(each, fit=each.fit - 0.05)
                for synonym in self._synonyms.get(key[0], ())
                for each in self._nouns.get(synonym, [])
            ]
        return _best(found)

    def find_values(self, key: Key) -> tuple[SchemaMeaning, ...]:
        found = self._values.get(key, [])
        if not found:
            for names in load_thesaurus().aliases:
                if " ".join(key) in names:
                    found = [each for name in sorted(names) for each in self._values.get(tuple(name.split()), [])]
        return _best(_merge_by_column(found))

    def guess_names(self, text: str) -> tuple[SchemaMeaning, ...]:
        """Return the name columns whose values were not all sampled: an unknown name may occur there."""
        found = (
            SchemaMeaning(table.name, column.name, fit=_UNSEEN_FIT, values=(text,), unseen=True)
            for table in self.schema.tables
            for column in self.names.title_columns(table)
            if column.kind is ColumnKind.TEXT and not column.complete and table.rows != 0
        )
        return tuple(found)[:_MAX_MEANINGS]

    def find_partial_values(self, key: Key) -> tuple[SchemaMeaning, ...]:
        """Return the columns with values that contain these words: `Ontario` in `Lake Ontario`."""
        found: dict[ColumnRef, SchemaMeaning] = {}
        for value_key, meaning in self._words.get(key[0], []):
            if _contains(value_key, key):
                fit = meaning.fit * (0.5 + 0.4 * len(key) / len(value_key))
                if meaning.column_ref not in found or found[meaning.column_ref].fit < fit:
                    found[meaning.column_ref] = replace(meaning, fit=fit, values=(" ".join(key),), part=True)
        return _best(found.values())

    def measures(self, hint: str) -> tuple[SchemaMeaning, ...]:
        """Columns with the kind of measure an adjective implies. A vague one also means a table's only number."""
        wanted = [self._key(name)[0] for name in load_lexicon().measures.get(hint, ())]
        found = []
        for table in self.schema.tables:
            for column in table.columns:
                own = self.names.short_name(table, column)
                ranks = [wanted.index(word) for word in own if word in wanted]
                if ranks and (hint == "where" or self.is_measure(column)):
                    fit = 0.95 - 0.04 * min(ranks) - 0.02 * (len(own) - 1)
                    found.append(SchemaMeaning(table.name, column.name, fit=fit))
            found.extend(self._only_measure(table, hint, found))
        return tuple(found)

    def date_columns(self) -> tuple[SchemaMeaning, ...]:
        """Columns with dates or years."""
        found = []
        for table in self.schema.tables:
            rank = 0
            for column in table.columns:
                years = column.kind is ColumnKind.NUMBER and "year" in self.names.short_name(table, column)
                if years or (column.kind is ColumnKind.DATETIME and not _TIME_OF_DAY.match(column.declared)):
                    found.append(SchemaMeaning(table.name, column.name, fit=0.95 - 0.05 * rank))
                    rank += 1
        return tuple(found)

    def column(self, column_ref: ColumnRef) -> Column:
        table = self.schema.table(column_ref.table)
        column = table.column(column_ref.column) if table else None
        assert column is not None, column_ref
        return column

    def is_measure(self, column: Column) -> bool:
        measured = column.kind in {ColumnKind.NUMBER, ColumnKind.DATETIME} or _is_written_number(column)
        return measured and not self.names.is_identifier(column)

    def is_boolean(self, meaning: SchemaMeaning) -> bool:
        """Whether a word is a good name for a column that holds yes or no."""
        fits = bool(meaning.column) and meaning.fit > _GOOD_FIT
        return fits and self.boolean_literal(meaning.column_ref, wanted=True) is not None

    def boolean_literal(self, column_ref: ColumnRef, *, wanted: bool) -> str | None:
        """How a column spells yes or no. None if it holds other values."""
        column = self.column(column_ref)
        if column.kind is ColumnKind.BOOLEAN:
            return "TRUE" if wanted else "FALSE"
        if not column.complete or not column.values or not {each.casefold() for each in column.values} <= _YES | _NO:
            return None
        return next((each for each in column.values if (each.casefold() in _YES) == wanted), None)

    def is_relation(self, meaning: SchemaMeaning) -> bool:
        """Whether a column relates a row to others and reads like a verb, as `border` and `traverse` do."""
        entity = self._stand_ins.get(meaning.column_ref, "")
        return bool(entity) and not set(self._key(meaning.column)) & set(self._key(entity))

    def column_refs(self, found: Iterable[SchemaMeaning]) -> frozenset[ColumnRef]:
        """The columns that hold the names of these things."""
        return frozenset(
            ColumnRef(each.table, column)
            for each in found
            for column in ((each.column,) if each.column else self.display_columns(each.table))
        )

    def _title(self, table: str) -> tuple[str, ...]:
        found = self.schema.table(table)
        return tuple(each.name for each in self.names.title_columns(found)) if found else ()

    def display_columns(self, table: str) -> tuple[str, ...]:
        found = self.schema.table(table)
        assert found is not None, table
        return tuple(each.name for each in self.names.display_columns(found))

    def _only_measure(self, table: Table, hint: str, found: Sequence[SchemaMeaning]) -> list[SchemaMeaning]:
        measures = [each for each in table.columns if each.kind is ColumnKind.NUMBER and self.is_measure(each)]
        if hint in _ANY_MEASURE and len(measures) == 1 and not any(each.table == table.name for each in found):
            return [SchemaMeaning(table.name, measures[0].name, fit=0.6)]
        return []

    def _index_table(self, table: Table) -> None:
        title = self.names.title_columns(table)
        links = not title and self.names.primary_key(table) is None
        for variant in self.names.table_variants(table):
            # A table that only links others does not stand for the things it links.
            fit = variant.fit - 0.3 if links and variant.fit < 1 else variant.fit
            self._add(variant.key, SchemaMeaning(table.name, fit=fit))
        for column in table.columns:
            for variant in self.names.column_variants(table, column):
                self._add(variant.key, SchemaMeaning(table.name, column.name, fit=variant.fit))
            if column.kind in {ColumnKind.TEXT, ColumnKind.OTHER}:
                # A table with few rows is more likely to be meant than one with many.
                is_stand_in = ColumnRef(table.name, column.name) in self._stand_ins
                fit = (1.0 if column in title else 0.95 if is_stand_in else 0.9) - 0.01 * len(str(table.rows or 0))
                for value in column.values:
                    self._index_value(value, SchemaMeaning(table.name, column.name, fit=fit, values=(value,)))

    def _index_value(self, value: str, meaning: SchemaMeaning) -> None:
        plain = tuple(words(value))
        if not 0 < len(plain) <= _MAX_VALUE_WORDS:
            return
        self._values[plain].append(meaning)
        if (stemmed := self._key(value)) != plain:
            self._values[stemmed].append(replace(meaning, fit=meaning.fit - 0.1))
        for word in dict.fromkeys(plain if len(plain) > 1 else ()):
            self._words[word].append((plain, meaning))

    def _index_stand_ins(self) -> None:
        """Let a column that holds the names of another table's rows be called by that table's name."""
        for here, entity in self._stand_ins.items():
            table = self.schema.table(entity)
            for variant in self.names.table_variants(table) if table else ():
                self._add(
                    variant.key, SchemaMeaning(here.table, here.column, fit=variant.fit * _STAND_IN_FIT, entity=entity)
                )

    def _find_stand_ins(self) -> Iterator[tuple[ColumnRef, str]]:
        for join in self.joins.all:
            for here, there in ((join.one, join.other), (join.other, join.one)):
                if self._title(there.table) == (there.column,) and self._title(here.table) != (here.column,):
                    yield here, there.table

    def _add(self, key: Key, meaning: SchemaMeaning) -> None:
        for each in {key, self._as_one_word(key)}:
            known = self._nouns[each]
            same = next((old for old in known if old.column_ref == meaning.column_ref), None)
            if same is None:
                known.append(meaning)
            elif (same.fit, bool(same.entity)) < (meaning.fit, bool(meaning.entity)) or meaning.entity:
                known[known.index(same)] = replace(meaning, fit=max(same.fit, meaning.fit))

    def _as_one_word(self, key: Key) -> Key:
        """`check ins` and `checkin` are the same, like `user name` and `username`."""
        return self._key("".join(key))

    def _key(self, text: str) -> Key:
        return self.stems.all_stems(folded(text))


def _is_written_number(column: Column) -> bool:
    """Whether a text column holds only numbers."""
    return column.kind is ColumnKind.TEXT and len(column.values) > 1 and all(map(_NUMERAL.fullmatch, column.values))


def _merge_by_column(found: Iterable[SchemaMeaning]) -> list[SchemaMeaning]:
    """Merge the meanings in one column: `Luis` and `Luís` are the same name."""
    column_refs: dict[ColumnRef, SchemaMeaning] = {}
    for each in found:
        known = column_refs.setdefault(each.column_ref, each)
        if known is not each:
            values = tuple(dict.fromkeys((*known.values, *each.values)))
            column_refs[each.column_ref] = replace(known, fit=max(known.fit, each.fit), values=values)
    return list(column_refs.values())


def _best(found: Iterable[SchemaMeaning]) -> tuple[SchemaMeaning, ...]:
    ranked = sorted(found, key=lambda each: -each.fit)
    return tuple(each for each in ranked if each.fit >= ranked[0].fit - _MAX_FIT_LOSS)[:_MAX_MEANINGS]


def _contains(value_key: Key, key: Key) -> bool:
    return any(value_key[at : at + len(key)] == key for at in range(len(value_key) - len(key) + 1))
