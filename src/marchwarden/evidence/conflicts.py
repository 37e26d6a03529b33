"""Detect whether two excerpts about the same thing differ in a figure, date, name or polarity.

Deliberately cautious: a false conflict costs more trust than a missed one. Does not know minds or runs.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal, TypeVar

from marchwarden.core.notebook import Stance
from marchwarden.core.plain_blocks import looks_like_a_row
from marchwarden.evidence.sentence_comparison import (
    are_editions,
    find_periods,
    split_clauses,
    swapped_names,
    without_references,
)
from marchwarden.evidence.stance import StanceClassifier
from marchwarden.text.negation import Polarity, is_negation, join_negations
from marchwarden.text.numbers import MONTHS, Figure, Moment, Numbers, parse_numbers
from marchwarden.text.scripts import UPPER
from marchwarden.text.words import STOP_WORDS, WordStemmer, words

Kind = Literal["figure", "date", "polarity", "name"]
_Value = TypeVar("_Value", Figure, Moment)

# Chosen for few false conflicts: 7 of 195 questions about quarterly filings (sec10q) report one.
FEWEST_SHARED: Final = 3
FEWEST_SHARED_FOR_NAME: Final = 4
SIMILAR: Final = 0.6
VERY_SIMILAR: Final = 0.75
NEARLY_EQUAL: Final = 0.8
CERTAIN: Final = 0.5
NEWER_BY_DAYS: Final = 90
OPENING_WORDS: Final = 5
TOPIC_WORDS: Final = 8
CACHE_SIZE: Final = 1000

_BOUND: Final = re.compile(
    r"\b(?:at least|at most|up to|more than|less than|fewer than|over|under|about|around|approximately|roughly|nearly"
    r"|almost|some|estimated|between|average|typically|usually|often|(?-i:may)|might|could)\b|[~≈<>±]",
    re.IGNORECASE,
)
_CONDITION: Final = re.compile(r"\b(?:if|when|unless|except|only|while|during|among|under)\b", re.IGNORECASE)
_NAME: Final = re.compile(rf"\b[{UPPER}][\w'’-]*")
_WORD: Final = re.compile(r"[\w'’-]+")
_ORDINAL: Final = re.compile(
    r"\b(?:\d+(?:st|nd|rd|th)|first|second|third|(?:four|fif|six|seven|eigh|nin|ten|eleven|twelf|\w+teen|twentie)th)\b",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[.!]\W*$")


@dataclass(frozen=True)
class ComparedText:
    """An excerpt of a document. `document` identifies the document, and `title` tells its subject."""

    text: str
    document: str
    title: str = ""
    published: date | None = None


@dataclass(frozen=True)
class DetectedConflict:
    """Kind of the difference, how to interpret it, the common topic and the value on each side.

    `sides` are sorted so that copies of a conflict compare equal. They are empty for polarity.
    """

    kind: Kind
    stance: Stance
    topic: str
    sides: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Difference:
    """A difference between two sentences or clauses."""

    kind: Kind
    ours: "_ParsedText"
    theirs: "_ParsedText"
    sides: tuple[str, ...] = ()


@dataclass(frozen=True)
class _ParsedText:
    """A parsed sentence or clause. `stems` excludes words that only change the polarity.

    `opening` holds names among the first words, which usually name the subject.
    """

    text: str
    figures: Numbers
    stems: frozenset[str]
    names: frozenset[str]
    opening: frozenset[str]
    title: frozenset[str]
    negations: int


class ConflictDetector:
    """Compare excerpts. Holds the stemmer and a cache of parsed texts."""

    def __init__(self, stems: WordStemmer) -> None:
        self._stems = stems
        # Clauses, names and negations are recognised by English words.
        self._is_english = stems.language.is_english
        self._polarity_words = Polarity(stems).opposites
        self._not_names = self._polarity_words.union(stems.content_stems(" ".join(MONTHS)))
        self._stances = StanceClassifier(stems)
        self._cache: dict[tuple[str, str], _ParsedText] = {}

    def compare(self, one: ComparedText, other: ComparedText) -> DetectedConflict | None:
        """Return how two excerpts conflict, or None if they do not or if it is uncertain."""
        if one.document == other.document or one.text == other.text:
            return None
        if looks_like_a_row(one.text) or looks_like_a_row(other.text):
            return None  # Only the table tells what a row is about, so equal labels prove nothing.
        ours, theirs = self._parse_cached(one.text, one.title), self._parse_cached(other.text, other.title)
        found = self._find_difference(ours, theirs)
        if found is None and self._is_english:
            found = self._clause_difference(one, other) or self._name_difference(ours, theirs)
        if found is None:
            return None
        return DetectedConflict(found.kind, _stance(found, one, other), self._topic(found), found.sides)

    def _parse_cached(self, text: str, title: str) -> _ParsedText:
        if len(self._cache) >= CACHE_SIZE:
            self._cache.clear()
        if (text, title) not in self._cache:
            self._cache[text, title] = self._parse(text, title)
        return self._cache[text, title]

    def _parse(self, text: str, title: str) -> _ParsedText:
        figures = parse_numbers(without_references(text))
        stated = " ".join(word for word in words(figures.rest) if not is_negation(word))
        return _ParsedText(
            text=text,
            figures=figures,
            stems=frozenset(self._stems.content_stems(stated)) - self._polarity_words,
            names=self._names(figures.rest),
            opening=self._names(" ".join(_WORD.findall(figures.rest)[:OPENING_WORDS])),
            title=frozenset(stem for stem in self._stems.content_stems(title) if stem.isalpha()),
            negations=sum(is_negation(word) for word in words(join_negations(text))),
        )

    def _names(self, text: str) -> frozenset[str]:
        return frozenset(self._stems.content_stems(" ".join(_NAME.findall(text)))) - self._not_names

    def _find_difference(
        self, ours: _ParsedText, theirs: _ParsedText, fewest_overlap: float = SIMILAR
    ) -> _Difference | None:
        if (
            _overlap(ours, theirs) < fewest_overlap
            or _has_other_subject(ours, theirs)
            or "?" in ours.text + theirs.text
        ):
            return None
        found = _different_figure(ours, theirs) or _different_date(ours, theirs)
        return found or (self._polarity_difference(ours, theirs) if self._is_english else None)

    def _clause_difference(self, one: ComparedText, other: ComparedText) -> _Difference | None:
        """Compare clause by clause, because a single clause may conflict even if the rest of the sentence agrees."""
        mine, yours = split_clauses(one.text), split_clauses(other.text)
        if len(mine) == len(yours) == 1:
            return None
        pairs = (
            (self._parse_cached(ours, one.title), self._parse_cached(theirs, other.title))
            for ours in mine
            for theirs in yours
        )
        return next((found for pair in pairs if (found := self._find_difference(*pair, VERY_SIMILAR))), None)

    def _polarity_difference(self, ours: _ParsedText, theirs: _ParsedText) -> _Difference | None:
        """Find sentences with the same words in which one is negated or reversed."""
        if not _same_numbers(ours, theirs):
            return None
        verdicts = [
            self._stances.classify(claim.text, evidence.text) for claim, evidence in _claim_evidence_pairs(ours, theirs)
        ]
        opposed = all(verdict.stance == "contradicts" and verdict.weight >= CERTAIN for verdict in verdicts)
        return _Difference("polarity", ours, theirs) if verdicts and opposed else None

    def _name_difference(self, ours: _ParsedText, theirs: _ParsedText) -> _Difference | None:
        """Find sentences that differ in a single name, unless the name is part of an enumeration."""
        shared = len(ours.stems & theirs.stems)
        if shared < FEWEST_SHARED_FOR_NAME or not ours.names & theirs.names or _is_unrelated(ours, theirs):
            return None
        if ours.negations != theirs.negations or not _same_numbers(ours, theirs):
            return None
        if not all(_SENTENCE.search(parsed.text) for parsed in (ours, theirs)):
            return None  # Table rows and headings look alike in every list.
        sides = swapped_names(_WORD.findall(ours.text), _WORD.findall(theirs.text))
        return _Difference("name", ours, theirs, tuple(sorted(sides))) if sides else None

    def _topic(self, found: _Difference) -> str:
        """Return the shared words in the order of the first text."""
        shared = found.ours.stems & found.theirs.stems
        shared_words = [
            word
            for word in _WORD.findall(found.ours.figures.rest)
            if shared.intersection(self._stems.content_stems(word))
        ]
        return " ".join(list(dict.fromkeys(shared_words))[:TOPIC_WORDS])


def _overlap(ours: _ParsedText, theirs: _ParsedText) -> float:
    shared = ours.stems & theirs.stems
    return len(shared) / len(ours.stems | theirs.stems) if len(shared) >= FEWEST_SHARED else 0.0


def _claim_evidence_pairs(ours: _ParsedText, theirs: _ParsedText) -> list[tuple[_ParsedText, _ParsedText]]:
    """Return the pairs to classify: both directions for similar sentences, otherwise an unconditional denial.

    "Not allowed" contradicts "allowed in May", but "not allowed in May" does not contradict "allowed".
    """
    if _overlap(ours, theirs) >= NEARLY_EQUAL:
        return [(ours, theirs), (theirs, ours)]
    asserting, denying = sorted((ours, theirs), key=lambda parsed: parsed.negations)
    is_unconditional = asserting.negations < denying.negations and denying.stems <= asserting.stems
    return [(denying, asserting)] if is_unconditional else []


def _has_other_subject(ours: _ParsedText, theirs: _ParsedText) -> bool:
    """Whether each text has a name that the other lacks, or they are unrelated."""
    return bool(ours.names - theirs.stems and theirs.names - ours.stems) or _is_unrelated(ours, theirs)


def _is_unrelated(ours: _ParsedText, theirs: _ParsedText) -> bool:
    """Whether they start with different names and their titles differ."""
    return not ours.opening & theirs.opening and bool(ours.title - theirs.title and theirs.title - ours.title)


def _different_figure(ours: _ParsedText, theirs: _ParsedText) -> _Difference | None:
    """Find the single figure that differs, if both have equally many of that unit. Ignores bounds and estimates."""
    if _BOUND.search(ours.text) or _BOUND.search(theirs.text):
        return None
    if len(ours.figures.quantities) != len(theirs.figures.quantities):
        return None
    for unit in sorted({_unit(figure) for figure in ours.figures.quantities}):
        mine, yours = _of_unit(ours, unit), _of_unit(theirs, unit)
        odd = _odd_pair(mine, yours)
        if odd and (len(mine) == 1 or _overlap(ours, theirs) >= VERY_SIMILAR):
            return _Difference("figure", ours, theirs, tuple(sorted(f"{figure.value:g} {unit}" for figure in odd)))
    return None


def _of_unit(parsed: _ParsedText, unit: str) -> list[Figure]:
    return [figure for figure in parsed.figures.quantities if _unit(figure) == unit]


def _unit(figure: Figure) -> str:
    return "" if figure.unit in STOP_WORDS else figure.unit


def _different_date(ours: _ParsedText, theirs: _ParsedText) -> _Difference | None:
    odd = _odd_pair(ours.figures.moments, theirs.figures.moments)
    if not odd or _overlap(ours, theirs) < VERY_SIMILAR:
        return None
    return _Difference("date", ours, theirs, tuple(sorted(map(_iso_date, odd))))


def _odd_pair(ours: Sequence[_Value], theirs: Sequence[_Value]) -> tuple[_Value, ...]:
    """Return the single value on each side that the other lacks, if all other values agree."""
    mine = [each for each in ours if not any(each.agrees(other) for other in theirs)]
    yours = [each for each in theirs if not any(each.agrees(other) for other in ours)]
    return (mine[0], yours[0]) if len(ours) == len(theirs) and len(mine) == len(yours) == 1 else ()


def _iso_date(moment: Moment) -> str:
    return f"{moment.year:04}-{moment.month:02}-{moment.day:02}"


def _same_numbers(ours: _ParsedText, theirs: _ParsedText) -> bool:
    return ours.figures.quantities == theirs.figures.quantities and ours.figures.moments == theirs.figures.moments


def _stance(found: _Difference, one: ComparedText, other: ComparedText) -> Stance:
    """Classify: another time, place or ordinal is another scope; a condition qualifies; a newer document supersedes."""
    kind, ours, theirs = found.kind, found.ours, found.theirs
    if _differs_in_time(found, one, other) or _ordinals(ours) != _ordinals(theirs):
        return "different_scope"
    if kind != "name" and (ours.names - theirs.stems or theirs.names - ours.stems):
        return "different_scope"
    if bool(_CONDITION.search(one.text)) != bool(_CONDITION.search(other.text)):
        return "qualifies"
    if kind != "date" and one.published and other.published:
        apart = abs((one.published - other.published).days)
        return "superseded" if apart >= NEWER_BY_DAYS else "contradicts"
    return "contradicts"


def _differs_in_time(found: _Difference, one: ComparedText, other: ComparedText) -> bool:
    """Whether the statements apply to different periods, by their own dates or by their documents' titles."""
    ours, theirs = found.ours, found.theirs
    if found.kind == "date":
        return bool(_odd_pair(find_periods(ours.text), find_periods(theirs.text)))
    undated = not ours.figures.moments and not theirs.figures.moments
    return not _same_time(ours, theirs) or (undated and are_editions(one.title, other.title))


def _ordinals(parsed: _ParsedText) -> set[str]:
    return {ordinal.casefold() for ordinal in _ORDINAL.findall(parsed.text)}


def _same_time(ours: _ParsedText, theirs: _ParsedText) -> bool:
    mine, yours = ours.figures.moments, theirs.figures.moments
    return len(mine) == len(yours) and all(any(one.agrees(other) for other in yours) for one in mine)
