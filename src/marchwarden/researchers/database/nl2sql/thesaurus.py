"""General vocabulary: synonyms, words that name nothing, numbers and months. The words are in `thesaurus.toml`.

Does not know the schema.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import TypeAdapter

from marchwarden.text.words import STOP_WORDS


@dataclass(frozen=True)
class _WordLists:
    """The content of `thesaurus.toml`, section by section."""

    roles: frozenset[str]
    nameless: frozenset[str]
    connecting: frozenset[str]
    aliases: tuple[frozenset[str], ...]
    synonyms: Mapping[str, tuple[str, ...]]
    numbers: Mapping[str, int]
    months: Mapping[int, tuple[str, ...]]


@dataclass(frozen=True)
class Thesaurus:
    """Word lists. `thesaurus.toml` explains each of them.

    `connecting` includes the stop words; `months` maps every name of a month to its number.
    """

    roles: frozenset[str]
    nameless: frozenset[str]
    connecting: frozenset[str]
    aliases: tuple[frozenset[str], ...]
    synonyms: Mapping[str, tuple[str, ...]]
    numbers: Mapping[str, int]
    months: Mapping[str, int]


@cache
def load_thesaurus() -> Thesaurus:
    """Read the word lists. Happens once per process, at the first question or schema."""
    text = (files("marchwarden.researchers.database.nl2sql") / "thesaurus.toml").read_text(encoding="utf-8")
    lists = TypeAdapter(_WordLists).validate_python(tomllib.loads(text))
    return Thesaurus(
        roles=lists.roles,
        nameless=lists.nameless,
        connecting=STOP_WORDS | lists.connecting,
        aliases=lists.aliases,
        synonyms=lists.synonyms,
        numbers=lists.numbers,
        months={name: number for number, names in lists.months.items() for name in names},
    )
