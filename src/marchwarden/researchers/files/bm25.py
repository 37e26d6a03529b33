"""Split texts and queries into terms, and score passages with BM25 over exact statistics. Does not know the index.

Why not the scores of tantivy: they include deleted passages until segments are merged, and depend on the order of
addition. With the scores computed here, a folder has the same ranking however its index was built.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from marchwarden.text.languages import Language
from marchwarden.text.languages.detect import detect
from marchwarden.text.words import ENGLISH, Stemmers

MAX_QUERY_TERMS: Final = 64
_K1: Final = 1.2
_B: Final = 0.75
_LANGUAGE_TERM: Final = "language:"
"""Start of a term that tells the language of a passage. English passages have none. No word contains a colon."""


class TermAnalyzer:
    """Converts text to index terms: the stems of all words, in the language of the text. Not thread-safe."""

    def __init__(self) -> None:
        self._stemmers = Stemmers()

    def analyze(self, text: str, language: Language = ENGLISH) -> list[str]:
        """Return the terms of a passage in a document of this language."""
        terms = self._stemmers.for_language(language).index_terms(text)
        return terms if language.is_english else [*terms, language_term(language)]

    def query_terms(self, query: str, indexed: Iterable[Language] = ()) -> list[str]:
        """Return the distinct terms of a query. Stop words are dropped unless there are no others.

        The words are stemmed in English, in the language of the query and in the languages of the index.
        """
        own = detect(query)
        content_words = self._stemmers.for_language(own).content_words(query)
        text = " ".join(word for word in content_words if word not in own.negations) or query
        found = dict.fromkeys(
            term
            for language in dict.fromkeys((own, ENGLISH, *indexed))
            for term in self._stemmers.for_language(language).index_terms(text)
        )
        return sorted(found)[:MAX_QUERY_TERMS]


def language_term(language: Language) -> str:
    """Return the term in every passage of this language."""
    return f"{_LANGUAGE_TERM}{language.code}"


@dataclass(frozen=True)
class Statistics:
    """Collection statistics for BM25: passages, words, and the number of passages with each query term."""

    passages: int
    words: int
    frequencies: Mapping[str, int]

    @property
    def mean_length(self) -> float:
        return self.words / self.passages if self.passages and self.words else 1.0

    def rarity(self, term: str) -> float:
        frequency = self.frequencies.get(term, 0)
        return math.log1p((max(self.passages - frequency, 0) + 0.5) / (frequency + 0.5))


def merge_statistics(parts: Iterable[Statistics]) -> Statistics:
    """Combine the statistics of several collections."""
    collections = list(parts)
    frequencies: Counter[str] = Counter()
    for part in collections:
        frequencies.update(part.frequencies)
    return Statistics(sum(part.passages for part in collections), sum(part.words for part in collections), frequencies)


class Bm25Scorer:
    """Scores passages for the terms of a query."""

    def __init__(self, terms: Sequence[str], statistics: Statistics) -> None:
        self.statistics = statistics
        self._weights = [(term, statistics.rarity(term) * (_K1 + 1)) for term in terms]

    def score(self, words: Sequence[str]) -> float:
        length = _K1 * (1 - _B + _B * _stored_length(len(words)) / self.statistics.mean_length)
        score = 0.0
        for term, weight in self._weights:
            count = words.count(term)
            if count:
                score += weight * count / (count + length)
        return score


def _stored_length(length: int) -> int:
    """Round a length like tantivy, which stores it in one byte: exact below 40, then four significant bits."""
    excess = length - 24
    if excess < 16:  # noqa: PLR2004 - 2**4
        return length
    dropped = excess.bit_length() - 4
    return 24 + (excess >> dropped << dropped)
