"""Split texts and queries into terms, and score passages with BM25 over exact statistics. Does not know the index.

Why not the scores of tantivy: they include deleted passages until segments are merged, and depend on the order of
addition. With the scores computed here, a folder has the same ranking however its index was built.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import tantivy

MAX_QUERY_TERMS: Final = 64
_K1: Final = 1.2
_B: Final = 0.75
_WORD: Final = re.compile(r"[^\W_]+")
_STOP_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """a about am an and any are as at be because been before being between both but by can could d did do does
        doing down during each few for from further had has have having he her here hers him his how i if in into is it
        its just ll m me more most my no nor not now of off on once only or other our out over own re s same shall she
        should so some such t than that the their theirs them then there these they this those through to too under
        until up ve very was we were what when where which while who whom whose why will with would you your yours""",
    )
)


class TermAnalyzer:
    """Converts text to index terms: lower case, without accents, stemmed."""

    def __init__(self) -> None:
        filters = tantivy.Filter
        self._analyzer = (
            tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
            .filter(filters.remove_long(40))
            .filter(filters.lowercase())
            .filter(filters.ascii_fold())
            .filter(filters.stemmer("english"))
            .build()
        )

    def analyze(self, text: str) -> list[str]:
        words: list[str] = self._analyzer.analyze(text)
        return words

    def query_terms(self, query: str) -> list[str]:
        """Return the distinct terms of a query. Stop words are dropped unless there are no others."""
        words = _WORD.findall(query)
        content_words = [word for word in words if word.lower() not in _STOP_WORDS]
        return sorted(dict.fromkeys(self.analyze(" ".join(content_words or words))))[:MAX_QUERY_TERMS]


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
