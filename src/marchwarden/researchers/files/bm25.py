"""Words of a text, words of a query, and BM25 over exact statistics. Knows no index.

The engine's own scores count deleted passages until it happens to merge them away, and add in an order of its own.
Scored here, a folder ranks the same however its index came about.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import tantivy

MOST_QUERY_TERMS: Final = 64
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


class Words:
    """Text to index terms: lower case, without accents, stemmed."""

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

    def of(self, text: str) -> list[str]:
        words: list[str] = self._analyzer.analyze(text)
        return words

    def asked(self, query: str) -> list[str]:
        """The distinct terms of a query, without stop words when it has any others."""
        words = _WORD.findall(query)
        telling = [word for word in words if word.lower() not in _STOP_WORDS]
        return sorted(dict.fromkeys(self.of(" ".join(telling or words))))[:MOST_QUERY_TERMS]


@dataclass(frozen=True)
class Statistics:
    """What BM25 must know of a collection: passages, words, and in how many passages each asked term stands."""

    passages: int
    words: int
    frequencies: Mapping[str, int]

    @property
    def mean_length(self) -> float:
        return self.words / self.passages if self.passages and self.words else 1.0

    def rarity(self, term: str) -> float:
        frequency = self.frequencies.get(term, 0)
        return math.log1p((max(self.passages - frequency, 0) + 0.5) / (frequency + 0.5))


def together(parts: Iterable[Statistics]) -> Statistics:
    """The statistics of several collections as one."""
    counted = list(parts)
    frequencies: Counter[str] = Counter()
    for part in counted:
        frequencies.update(part.frequencies)
    return Statistics(sum(part.passages for part in counted), sum(part.words for part in counted), frequencies)


class Scorer:
    """How well a passage answers some terms."""

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
    """The length as the engine keeps it in one byte, so that both rank alike: exact below 40, then four bits."""
    above = length - 24
    if above < 16:  # noqa: PLR2004 - sixteen is what four bits can say
        return length
    dropped = above.bit_length() - 4
    return 24 + (above >> dropped << dropped)
