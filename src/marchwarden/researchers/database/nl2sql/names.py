"""The names of a schema as words: `sbCustCountry` is the country of a customer. Knows no question and no SQL."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from marchwarden.researchers.database.models import Column, Kind, Schema, Table
from marchwarden.researchers.database.nl2sql.thesaurus import NAMELESS, ROLES
from marchwarden.text.words import WordStemmer

Key = tuple[str, ...]

_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_OF_PEOPLE: Final = (("first", "name"), ("last", "name"))
_FEW: Final = 3
_IS: Final = frozenset({"is", "has", "was"})
_WHOLE, _OWN, _BARE, _PART = 1.0, 0.95, 0.9, 0.5


@dataclass(frozen=True)
class Named:
    """A name that words may call a thing by, and how well it fits: 1 is the thing's whole name."""

    key: Key
    fit: float


def parts(name: str) -> Key:
    """`OrderDetails`, `order_details` and `Order Details` are all (order, details)."""
    return tuple(part.casefold() for part in _PARTS.findall(name)) or (name.casefold(),)


def spoken(name: str) -> str:
    return " ".join(parts(name))


def singular(text: str) -> str:
    for ending, one in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ss", "ss"), ("us", "us"), ("s", "")):
        if text.endswith(ending):
            return text.removesuffix(ending) + one
    return text


class Names:
    """What every table and column of a schema may be called."""

    def __init__(self, schema: Schema, stems: WordStemmer) -> None:
        self._stems = stems
        self._keys: dict[str, Key] = {}
        self._roles = set(map(self._stem, ROLES))
        self._shared = _opening([self._key(table.name) for table in schema.tables])
        self._openings = {
            table.name: _opening([self._key(each.name) for each in table.columns]) for table in schema.tables
        }

    def of_table(self, table: Table) -> Iterator[Named]:
        whole = self._key(table.name)
        own = whole[self._shared :]
        yield Named(whole, _WHOLE)
        yield Named(own, _WHOLE)
        yield from _within(own)

    def of_column(self, table: Table, column: Column) -> Iterator[Named]:
        """By its whole name, by what is left without the words its table lends it, by that after the table's name."""
        whole, own = self._key(column.name), self.own(table, column)
        of_table = self._key(table.name)[self._shared :]
        yield Named(whole, _WHOLE)
        yield Named(own, _OWN)
        yield Named((*of_table, *own), _WHOLE)
        yield Named((*of_table[-1:], *own), _OWN)
        if column == self.own_key(table):
            yield Named((*of_table, "id"), _WHOLE)
        if own[0] in _IS and len(own) > 1:
            yield Named(own[1:], _OWN)
        if column.kind is Kind.TEXT and own[-1] not in self._roles:
            yield Named((*own, self._stem("name")), _OWN)
        bare = tuple(word for word in own if word not in self._roles)
        if bare and bare != own and not set(bare) <= NAMELESS:
            yield Named(bare, _BARE if own[-1] != self._stem("id") else _PART)
        if len(own) > 1:
            yield Named(own[::-1], _OWN)
        yield from (named for named in _within(own) if not set(named.key) <= self._roles | NAMELESS)

    def own(self, table: Table, column: Column) -> Key:
        """A column's name without what the columns of its table all begin with, and without its table's name."""
        key = self._key(column.name)
        opening = self._openings[table.name]
        key = key[opening:] or key
        of_table = self._key(table.name)[self._shared :]
        while len(key) > 1 and key[0] in of_table:
            key = key[1:]
        return key

    def naming(self, table: Table) -> tuple[Column, ...]:
        """The columns to show for a row of a table: its name, else its key."""
        return self.title(table) or (self.key(table),)

    def title(self, table: Table) -> tuple[Column, ...]:
        """The columns that name what a row is about: a name or title, or first and last names. Often there is none."""
        words = {each.name: self.own(table, each) for each in table.columns}
        people = tuple(each for each in table.columns if parts(each.name)[-2:] in _OF_PEOPLE)
        if len(people) == len(_OF_PEOPLE):
            return tuple(sorted(people, key=lambda each: parts(each.name)[-2:]))
        own_name = self._key(table.name)[self._shared :]
        for fits in _naming_rules(own_name, self._stem):
            for each in table.columns:
                if each.kind is Kind.TEXT and fits(words[each.name]):
                    return (each,)
        return ()

    def called(self, table: str) -> str:
        """A table's name in words, of one row, without what all tables of the schema begin with."""
        return singular(" ".join(parts(table)[self._shared :]))

    def key(self, table: Table) -> Column:
        return self.own_key(table) or table.columns[0]

    def own_key(self, table: Table) -> Column | None:
        """The column that tells rows apart: the declared key, else `id`, `author_id` or `aid` in a table of authors."""
        declared = [each for each in table.columns if each.is_key]
        if declared:
            return declared[0] if len(declared) == 1 else None
        initial = self.called(table.name)[:1] + "id"
        for fits in (("id",), (*self._key(table.name)[self._shared :], "id"), (initial,)):
            for each in table.columns:
                if fits in {self._key(each.name), self.own(table, each)}:
                    return each
        return None

    def is_identifier(self, column: Column) -> bool:
        return column.is_key or self._is_id(self._key(column.name)[-1])

    def _is_id(self, word: str) -> bool:
        return word == "id" or (len(word) <= _FEW and word.endswith("id"))

    def _key(self, name: str) -> Key:
        if name not in self._keys:
            self._keys[name] = tuple(map(self._stem, parts(name)))
        return self._keys[name]

    def _stem(self, word: str) -> str:
        return "".join(self._stems.of_everything(word)) or word


def _opening(keys: list[Key]) -> int:
    """How many words all these names begin with; none when they are too few to tell a habit from chance."""
    if len(keys) < _FEW:
        return 0
    shared = 0
    while all(len(key) > shared + 1 for key in keys) and len({key[shared] for key in keys}) == 1:
        shared += 1
    return shared


def _within(key: Key) -> Iterator[Named]:
    """The parts of a longer name, better the more of it they are; its last word is what it is about."""
    for start in range(len(key)):
        for end in range(start + 1, len(key) + 1):
            if end - start < len(key):
                share = (end - start) / len(key)
                yield Named(key[start:end], _PART + 0.2 * share + (0.1 if end == len(key) else 0))


def _naming_rules(own_name: Key, stem: Callable[[str], str]) -> Iterable[Callable[[Key], bool]]:
    name, title = (stem("name"),), (stem("title"),)
    whole = {stem(word) for word in ("company", "full", "display", "user")}
    return (
        lambda key: key in {name, title},
        lambda key: key == own_name,
        lambda key: key[-1:] == name and (key[0] in whole or set(key[:-1]) <= set(own_name)),
        lambda key: key == (stem("username"),),
        lambda key: key == (stem("description"),),
    )
