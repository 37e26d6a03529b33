"""Whether a piece of evidence supports or contradicts a claim about the same thing. Knows no sources and no questions.

A claim stands or falls with what it says of its subject: what the evidence does not repeat speaks against it, a figure
or a name most of all, and a denial on one side turns the verdict round.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from marchwarden.evidence.ranking.semantic import Similarity
from marchwarden.text.negation import Polarity, is_negation, join_negations
from marchwarden.text.numbers import Numbers, parse_numbers
from marchwarden.text.words import STOP_WORDS, WordStemmer

# A logistic fit of "the evidence supports the claim" on one half of an open set of claims, rounded.
AT_ALL: Final = 2.0
UNMET: Final = -3.0
FIGURE_UNMET: Final = -2.0
NAME_UNMET: Final = -1.2
OPPOSED: Final = -2.0

NAMES_COUNT: Final = 1.3
FILLER_COUNTS: Final = 0.4
SAME_ROOT: Final = 4
ROOT_SHARE: Final = 0.6
REACH: Final = 8
"""How many words before what it denies a denial may stand."""
KINDRED: Final = 0.45
SAME_MEANING: Final = 0.7

_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_LINKS: Final = frozenset({"of", "the", "and", "a", "in", "de", "la", "le", "at", "for"})
_FILLER: Final = """
    involve person call name know type kind part thing something someone people make take place role become include base
    use put together form fact sort various certain
"""


@dataclass(frozen=True)
class Verdict:
    """How the evidence stands to the claim. `weight` grows with certainty; `unmet` are the words it does not repeat."""

    stance: Literal["supports", "contradicts"]
    weight: float
    unmet: tuple[str, ...]


@dataclass(frozen=True)
class _Said:
    """A word of the claim, how much of its meaning the evidence holds (0 to 1), and what it counts."""

    word: str
    met: float
    counts: float


class StanceClassifier:
    """Judges claims by evidence. With a `similarity`, other words of the same meaning meet a claim as well."""

    def __init__(self, stems: WordStemmer, similarity: Similarity | None = None) -> None:
        self._stems = stems
        self._similarity = similarity
        self._polarity = Polarity(stems)
        self._filler = frozenset(stems.content_stems(_FILLER))

    def of(self, claim: str, evidence: str) -> Verdict:
        """The stance of the evidence. Both are taken to speak of the same thing: that is not judged here."""
        figures, held = parse_numbers(join_negations(claim)), _Evidence(join_negations(evidence), self._stems)
        said = self._said(_WORD.findall(figures.rest), held)
        agreement = AT_ALL + UNMET * _unmet_share(said) + NAME_UNMET * _worst_name(said)
        if not _figures_met(figures, held.figures):
            agreement += FIGURE_UNMET
        if self._polarity.opposed(frozenset(self._stems.all_stems(claim)), held.everything):
            agreement += OPPOSED
        denials = sum(is_negation(word.casefold()) for word in _WORD.findall(join_negations(claim)))
        if (denials + held.denials_near(each.word for each in said)) % 2:
            agreement = -agreement
        unmet = tuple(each.word for each in said if each.met < 1)
        return Verdict("supports" if agreement > 0 else "contradicts", abs(agreement), unmet)

    def _said(self, words: Sequence[str], held: "_Evidence") -> list[_Said]:
        """What the claim says of its subject, word by word; empty words and denials left out."""
        predicate = (word for word in words[_subject(words) :] if not is_negation(word.casefold()))
        return [
            _Said(word, self._met(word, held), self._counts(word))
            for word in predicate
            if self._stems.content_stems(word)
        ]

    def _met(self, word: str, held: "_Evidence") -> float:
        if held.stems.issuperset(self._stems.content_stems(word)) or held.has_root_of(word):
            return 1.0
        if self._similarity is None or word[0].isupper() or not held.plain:
            return 0.0
        nearest = max(self._similarity.similar(word, held.plain))
        return min(max((nearest - KINDRED) / (SAME_MEANING - KINDRED), 0.0), 1.0)

    def _counts(self, word: str) -> float:
        if not self._filler.isdisjoint(self._stems.content_stems(word)):
            return FILLER_COUNTS
        return NAMES_COUNT if word[0].isupper() else 1.0


class _Evidence:
    """The words of a piece of evidence, in the forms that a claim is held against."""

    def __init__(self, text: str, stems: WordStemmer) -> None:
        self._stemmer = stems
        self.figures = parse_numbers(text)
        self.words = [word.casefold() for word in _WORD.findall(text)]
        self.stems = frozenset(stems.content_stems(text))
        self.everything = frozenset(stems.all_stems(text))

    @cached_property
    def plain(self) -> list[str]:
        return [word for word in dict.fromkeys(self.words) if word not in STOP_WORDS and not word[0].isdigit()]

    def has_root_of(self, word: str) -> bool:
        return any(_same_root(word.casefold(), other) for other in self.plain)

    def denials_near(self, said: Iterable[str]) -> int:
        """How many denials stand near a word of the claim: those elsewhere deny something else."""
        claimed = [(word.casefold(), frozenset(self._stemmer.content_stems(word))) for word in said]
        near: set[int] = set()
        for place, word in enumerate(self.words):
            stems = frozenset(self._stemmer.content_stems(word))
            if any(stems & other or _same_root(word, claim) for claim, other in claimed):
                near.update(range(max(place - REACH, 0), place + 2))
        return sum(is_negation(self.words[place]) for place in near if place < len(self.words))


def _subject(words: Sequence[str]) -> int:
    """How many words at the front name what the claim is about: a name with its links, or the first word."""
    front = 0
    for place, word in enumerate(words):
        if word[0].isupper():
            front = place + 1
        elif word.casefold() not in _LINKS:
            break
    front = front or 1
    return front if front < len(words) else 0


def _unmet_share(said: Sequence[_Said]) -> float:
    whole = sum(each.counts for each in said)
    return sum(each.counts * (1 - each.met) for each in said) / whole if whole else 0.0


def _worst_name(said: Iterable[_Said]) -> float:
    return max((1 - each.met for each in said if each.word[0].isupper()), default=0.0)


def _figures_met(claimed: Numbers, held: Numbers) -> bool:
    """Zero is a denial, and is judged as one."""
    dated = all(any(moment.agrees(other) for other in held.moments) for moment in claimed.moments)
    counted = [figure for figure in claimed.quantities if figure.value]
    return dated and all(any(figure.agrees(other) for other in held.quantities) for figure in counted)


def _same_root(one: str, other: str) -> bool:
    """Whether two words begin alike for most of the shorter one: `politics` and `politician`."""
    shared = next((at for at, (mine, yours) in enumerate(zip(one, other, strict=False)) if mine != yours), None)
    shared = min(len(one), len(other)) if shared is None else shared
    return shared >= SAME_ROOT and shared >= ROOT_SHARE * min(len(one), len(other))
