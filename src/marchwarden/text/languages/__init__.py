"""Languages as data: stop words, question words, negations, number words, month names and the name of the stemmer.

A file per language in this folder. To add a language, add a file and its code. Other languages work as well, without
stop words.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final, TypedDict, cast

from marchwarden.text.scripts import folded, normalized

_CODES: Final = "ar bg cs da de el en es fa fi fr he hi hu id it ja ko nl no pl pt ro ru sv th tr uk vi zh"
UNSPACED: Final = frozenset({"Han", "Hangul", "Thai"})
"""Scripts in which question words are searched for anywhere, not as separate words. Korean words have endings."""
DEFAULT: Final = "en"


class _File(TypedDict, total=False):
    """The keys of a data file. Those without a default are required."""

    name: str
    script: str
    stemmer: str
    truncate: int
    prefixes: str
    suffixes: str
    letters: str
    accents_matter: bool
    decimal_comma: bool
    capitalizes_nouns: bool
    stop_words: str
    fillers: str
    negations: str
    numbers: str
    reasons: list[str]
    months: list[str]
    asks: dict[str, list[str]]


@dataclass(frozen=True, eq=False)
class Language:
    """One language. All words are folded by `fold`.

    `stemmer`: the name of the Snowball stemmer. Without one, words are cut after `truncate` letters, if given.
    `prefixes`, `suffixes`: letters before and particles after a noun that are no part of it.
    `letters`: letters that tell the language from others of its script.
    `accents_matter`: accents distinguish words, as in Vietnamese, and are kept.
    `fillers`: words of questions that answers rarely repeat.
    `asks`: phrases that ask for a kind of answer, by the kind.
    """

    code: str
    name: str
    script: str
    stemmer: str = ""
    truncate: int = 0
    prefixes: str = ""
    suffixes: tuple[str, ...] = ()
    letters: frozenset[str] = frozenset()
    accents_matter: bool = False
    decimal_comma: bool = False
    capitalizes_nouns: bool = False
    stop_words: frozenset[str] = frozenset()
    fillers: frozenset[str] = frozenset()
    negations: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    reasons: tuple[str, ...] = ()
    months: tuple[tuple[str, ...], ...] = ()
    asks: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def is_english(self) -> bool:
        return self.code == DEFAULT

    @property
    def is_spaced(self) -> bool:
        return self.script not in UNSPACED

    @property
    def splits_at_apostrophes(self) -> bool:
        """Whether an apostrophe separates words, as in French and Turkish."""
        return self.script == "Latin" and not self.is_english

    def fold(self, text: str) -> str:
        """Fold a text as the words of this language are folded here: Latin letters keep their accents."""
        return normalized(text) if self.script == "Latin" else folded(text)


@cache
def load(code: str) -> Language:
    """Return the language with this code. Always the same object."""
    path = files("marchwarden.text.languages") / f"{code}.toml"
    content = cast("_File", tomllib.loads(path.read_text(encoding="utf-8")))
    plain = Language(code, content["name"], content["script"])
    negations = _words(plain, content.get("negations", ""))
    asks = {kind: tuple(map(plain.fold, phrases)) for kind, phrases in content.get("asks", {}).items()}
    question_words = {each for phrases in asks.values() for each in phrases if plain.is_spaced and " " not in each}
    return Language(
        code=code,
        name=content["name"],
        script=content["script"],
        stemmer=content.get("stemmer", ""),
        truncate=content.get("truncate", 0),
        prefixes=content.get("prefixes", ""),
        suffixes=tuple(content.get("suffixes", "").split()),
        letters=frozenset(content.get("letters", "")),
        accents_matter=content.get("accents_matter", False),
        decimal_comma=content.get("decimal_comma", False),
        capitalizes_nouns=content.get("capitalizes_nouns", False),
        stop_words=(_words(plain, content["stop_words"]) | question_words) - negations,
        fillers=_words(plain, content.get("fillers", "")),
        negations=negations,
        numbers=_words(plain, content.get("numbers", "")),
        reasons=tuple(map(plain.fold, content.get("reasons", []))),
        months=tuple(tuple(plain.fold(month).split("/")) for month in content.get("months", [])),
        asks=MappingProxyType(asks),
    )


@cache
def languages() -> tuple[Language, ...]:
    """Return all languages that have a file."""
    return tuple(load(code) for code in _CODES.split())


def _words(language: Language, text: str) -> frozenset[str]:
    return frozenset(language.fold(text).split())
