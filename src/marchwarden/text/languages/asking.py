"""What a question asks for, by the question words of its language. English has finer rules of its own."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from marchwarden.text.languages import Language
from marchwarden.text.segmentation import split_words

KINDS: Final = ("date", "number", "method", "reason", "person", "place", "definition")
"""The kinds of answers, those with the most specific phrases first."""


def asked_kind(text: str, language: Language) -> str:
    """Return the kind of answer that a question asks for, or nothing."""
    for kind in KINDS:
        pattern = _pattern(language, kind)
        if pattern is not None and pattern.search(_plain(text, language)):
            return kind
    return ""


def mentions(text: str, words: Iterable[str], language: Language) -> bool:
    """Whether the text contains one of the words or phrases."""
    pattern = _any_of(tuple(words), language)
    return pattern is not None and pattern.search(_plain(text, language)) is not None


def asking_phrases(language: Language) -> Sequence[str]:
    return [phrase for phrases in language.asks.values() for phrase in phrases]


@cache
def _pattern(language: Language, kind: str) -> re.Pattern[str] | None:
    return _any_of(language.asks.get(kind, ()), language)


@cache
def _any_of(phrases: Sequence[str], language: Language) -> re.Pattern[str] | None:
    plain = sorted({_plain(phrase, language).strip() for phrase in phrases}, key=lambda each: (-len(each), each))
    if not plain:
        return None
    found = "|".join(map(re.escape, plain))
    return re.compile(f" (?:{found}) " if language.is_spaced else found)


def _plain(text: str, language: Language) -> str:
    """Return the words of a text with one space around each, or without spaces if the script has none."""
    words = split_words(language.fold(text), language, everything=True, ngrams=False)
    return f" {' '.join(words)} " if language.is_spaced else "".join(words)
