"""Turn the names of a schema into words: `sbCustCountry` is the country of a customer.

Does not know questions or SQL.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from marchwarden.researchers.database.models import Column, ColumnKind, Schema, Table
from marchwarden.researchers.database.nl2sql.thesaurus import load_thesaurus
from marchwarden.text.words import WordStemmer

Key = tuple[str, ...]

_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_OF_PEOPLE: Final = (("first", "name"), ("last", "name"))
_MIN_NAMES: Final = 3
_MAX_ID_LENGTH: Final = 3
_IS: Final = frozenset({"is", "has", "was"})
_FULL_NAME, _SHORT_NAME, _WITHOUT_ROLE, _PARTIAL_NAME = 1.0, 0.95, 0.9, 0.5


@dataclass(frozen=True)
class NameVariant:
    """A possible name of a table or column. `fit` is 1 for its full name."""

    key: Key
    fit: float


def split_name(name: str) -> Key:
    """Split a name into words: `OrderDetails`, `order_details` and `Order Details` all give (order, details)."""
    return tuple(part.casefold() for part in _PARTS.findall(name)) or (name.casefold(),)


def name_in_words(name: str) -> str:
    return " ".join(split_name(name))


def singularize(text: str) -> str:
    for ending, one in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ss", "ss"), ("us", "us"), ("s", "")):
        if text.endswith(ending):
            return text.removesuffix(ending) + one
    return text


class SchemaNames:
    """The possible names of the tables and columns of a schema."""

    def __init__(self, schema: Schema, stems: WordStemmer) -> None:
        self._stems = stems
        self._keys: dict[str, Key] = {}
        self._roles = set(map(self._stem, load_thesaurus().roles))
        self._shared = _shared_prefix([self._key(table.name) for table in schema.tables])
        self._prefixes = {
            table.name: _shared_prefix([self._key(each.name) for each in table.columns]) for table in schema.tables
        }

    def table_variants(self, table: Table) -> Iterator[NameVariant]:
        full = self._key(table.name)
        short = full[self._shared :]
        yield NameVariant(full, _FULL_NAME)
        yield NameVariant(short, _FULL_NAME)
        yield from _partial_variants(short)

    def column_variants(self, table: Table, column: Column) -> Iterator[NameVariant]:
        """Yield the full name, the name without the words of its table, the table's name plus that, and parts of it."""
        full, short = self._key(column.name), self.short_name(table, column)
        table_words = self._key(table.name)[self._shared :]
        yield NameVariant(full, _FULL_NAME)
        yield NameVariant(short, _SHORT_NAME)
        yield NameVariant((*table_words, *short), _FULL_NAME)
        yield NameVariant((*table_words[-1:], *short), _SHORT_NAME)
        if column == self.primary_key(table):
            yield NameVariant((*table_words, "id"), _FULL_NAME)
        if short[0] in _IS and len(short) > 1:
            yield NameVariant(short[1:], _SHORT_NAME)
        if column.kind is ColumnKind.TEXT and short[-1] not in self._roles:
            yield NameVariant((*short, self._stem("name")), _SHORT_NAME)
        without_role, nameless = tuple(word for word in short if word not in self._roles), load_thesaurus().nameless
        if without_role and without_role != short and not set(without_role) <= nameless:
            yield NameVariant(without_role, _WITHOUT_ROLE if short[-1] != self._stem("id") else _PARTIAL_NAME)
        if len(short) > 1:
            yield NameVariant(short[::-1], _SHORT_NAME)
        yield from (variant for variant in _partial_variants(short) if not set(variant.key) <= self._roles | nameless)

    def short_name(self, table: Table, column: Column) -> Key:
        """A column's name without the prefix that all columns of its table share, and without its table's name."""
        key = self._key(column.name)
        prefix = self._prefixes[table.name]
        key = key[prefix:] or key
        table_words = self._key(table.name)[self._shared :]
        while len(key) > 1 and key[0] in table_words:
            key = key[1:]
        return key

    def display_columns(self, table: Table) -> tuple[Column, ...]:
        """The columns that represent a row: its name, or else its key."""
        return self.title_columns(table) or (self.row_key(table),)

    def title_columns(self, table: Table) -> tuple[Column, ...]:
        """The columns that name a row: a name or title, or first and last name. Often there are none."""
        words = {each.name: self.short_name(table, each) for each in table.columns}
        people = tuple(each for each in table.columns if split_name(each.name)[-2:] in _OF_PEOPLE)
        if len(people) == len(_OF_PEOPLE):
            return tuple(sorted(people, key=lambda each: split_name(each.name)[-2:]))
        own_name = self._key(table.name)[self._shared :]
        for fits in _naming_rules(own_name, self._stem):
            for each in table.columns:
                if each.kind is ColumnKind.TEXT and fits(words[each.name]):
                    return (each,)
        return ()

    def table_label(self, table: str) -> str:
        """A table's name in words, in the singular, without the prefix that all tables share."""
        return singularize(" ".join(split_name(table)[self._shared :]))

    def row_key(self, table: Table) -> Column:
        return self.primary_key(table) or table.columns[0]

    def primary_key(self, table: Table) -> Column | None:
        """The declared key, or else `id`, `author_id` or `aid` in a table of authors."""
        declared = [each for each in table.columns if each.is_key]
        if declared:
            return declared[0] if len(declared) == 1 else None
        initial = self.table_label(table.name)[:1] + "id"
        for fits in (("id",), (*self._key(table.name)[self._shared :], "id"), (initial,)):
            for each in table.columns:
                if fits in {self._key(each.name), self.short_name(table, each)}:
                    return each
        return None

    def is_identifier(self, column: Column) -> bool:
        return column.is_key or self._is_id(self._key(column.name)[-1])

    def _is_id(self, word: str) -> bool:
        return word == "id" or (len(word) <= _MAX_ID_LENGTH and word.endswith("id"))

    def _key(self, name: str) -> Key:
        if name not in self._keys:
            self._keys[name] = tuple(map(self._stem, split_name(name)))
        return self._keys[name]

    def _stem(self, word: str) -> str:
        return "".join(self._stems.all_stems(word)) or word


def _shared_prefix(keys: list[Key]) -> int:
    """The number of words that all names start with. 0 for few names, where a common start may be chance."""
    if len(keys) < _MIN_NAMES:
        return 0
    shared = 0
    while all(len(key) > shared + 1 for key in keys) and len({key[shared] for key in keys}) == 1:
        shared += 1
    return shared


def _partial_variants(key: Key) -> Iterator[NameVariant]:
    """Yield the parts of a name. Longer parts and parts with the last word, which is the subject, fit better."""
    for start in range(len(key)):
        for end in range(start + 1, len(key) + 1):
            if end - start < len(key):
                share = (end - start) / len(key)
                yield NameVariant(key[start:end], _PARTIAL_NAME + 0.2 * share + (0.1 if end == len(key) else 0))


def _naming_rules(own_name: Key, stem: Callable[[str], str]) -> Iterable[Callable[[Key], bool]]:
    name, title = (stem("name"),), (stem("title"),)
    full = {stem(word) for word in ("company", "full", "display", "user")}
    return (
        lambda key: key in {name, title},
        lambda key: key == own_name,
        lambda key: key[-1:] == name and (key[0] in full or set(key[:-1]) <= set(own_name)),
        lambda key: key == (stem("username"),),
        lambda key: key == (stem("description"),),
    )
