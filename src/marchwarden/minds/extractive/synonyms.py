"""Words that questions and documents use for one relation: who asks for a husband reads of a marriage."""

from collections.abc import Iterable, Mapping
from typing import Final

from marchwarden.text.words import WordStemmer

_RELATIONS: Final = """
    husband wife spouse married marriage
    father mother parent son daughter child
    brother sister sibling
    born birth birthplace
    died death killed buried
    director directed
    composer composed music score
    performer performed singer sang sung song recorded band
    author wrote writer novelist
    founder founded established
    play played portrayed actor actress role starring
    started began premiered released aired
    nationality country citizen
    won winner champion victory
    located situated lies
    inventor invented
    cause caused due
    population inhabitants
"""
_GROUPS: Final = tuple(line.split() for line in _RELATIONS.strip().splitlines())


def related(asked: Iterable[str], stems: WordStemmer) -> Mapping[str, frozenset[str]]:
    """For each stem asked for: the other stems that may stand for it."""
    groups = _groups(stems)
    found = {stem: frozenset().union(*(group for group in groups if stem in group)) - {stem} for stem in asked}
    return {stem: others for stem, others in found.items() if others}


def goes_through_another(asked: Iterable[str], stems: WordStemmer) -> bool:
    """Whether two relations are asked for at once: the birthplace of a director is not told where the film is."""
    named = frozenset(asked)
    return sum(not group.isdisjoint(named) for group in _groups(stems)) > 1


def _groups(stems: WordStemmer) -> list[frozenset[str]]:
    return [frozenset(stems.content_stems(" ".join(group))) for group in _GROUPS]
