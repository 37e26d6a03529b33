"""What the abbreviations of a document stand for, as it says itself: `recombinant viral particles (RVPs)`."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from marchwarden.text.words import WordStemmer

LOOK_BACK: Final = 120
WORDS_TO_SPARE: Final = 5
"""Words without a letter of their own that an abbreviation may pass over: `of`, `the`, `and`."""

_INTRODUCED: Final = re.compile(r"\(\s?(?=[^()\s]{0,9}[A-Z])([A-Za-z][\w-]{1,9})\s?[);,]")

Abbreviations = Mapping[str, tuple[str, ...]]
"""The stem of each abbreviation with the stems of the words that it stands for."""


def abbreviations(text: str, asked: Collection[str], stems: WordStemmer) -> Abbreviations:
    """Those that the text introduces for what is asked: at least half of their words are."""
    found: dict[str, tuple[str, ...]] = {}
    for short, meant in _introduced(text):
        words = stems.content_stems(meant)
        if 2 * sum(word in asked for word in words) >= len(words) > 0:
            for written in (short, short.removesuffix("s")):
                # Of `MERS-CoV` the first part is enough; of `WHO`, an empty word to the ranking, there is none.
                for stem in stems.content_stems(written)[:1]:
                    found.setdefault(stem, words)
    return found


def spelled_out(stems: Iterable[str], known: Abbreviations) -> tuple[str, ...]:
    """The same stems, after each abbreviation what it stands for."""
    return tuple(each for stem in stems for each in (stem, *known.get(stem, ())))


def _introduced(text: str) -> Iterator[tuple[str, str]]:
    for match in _INTRODUCED.finditer(text):
        if meant := _meant(match[1], text[max(0, match.start() - LOOK_BACK) : match.start()]):
            yield match[1], meant


def _meant(short: str, before: str) -> str:
    """The words in which its letters are found going backwards, its first letter at the beginning of a word."""
    letters = [letter for letter in short.removesuffix("s").casefold() if letter.isalnum()]
    before = before.casefold()
    at = len(before)
    for place in reversed(range(len(letters))):
        at = before.rfind(letters[place], 0, at)
        while place == 0 and at > 0 and before[at - 1].isalnum():
            at = before.rfind(letters[0], 0, at)
        if at < 0:
            return ""
    meant = before[at:]
    return meant if 1 < len(meant.split()) <= len(letters) + WORDS_TO_SPARE else ""
