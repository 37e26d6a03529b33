"""Whether two excerpts give different figures, dates, names or polarity for the same thing. Knows no minds and no runs.

Cautious on purpose: an invented quarrel costs more trust than one overlooked.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal, TypeVar

from marchwarden.core.notebook import Stance
from marchwarden.core.passages import looks_like_a_row
from marchwarden.evidence.name_swap import swapped_names
from marchwarden.evidence.stance import StanceClassifier
from marchwarden.evidence.time_scope import are_editions, periods, without_references
from marchwarden.text.clauses import clauses
from marchwarden.text.negation import Polarity, is_negation, join_negations
from marchwarden.text.numbers import MONTHS, Figure, Moment, Numbers, parse_numbers
from marchwarden.text.words import STOP_WORDS, WordStemmer, words

Kind = Literal["figure", "date", "polarity", "name"]
_Value = TypeVar("_Value", Figure, Moment)

FEWEST_SHARED: Final = 3
FEWEST_BESIDE_A_NAME: Final = 4
ALIKE: Final = 0.6
VERY_ALIKE: Final = 0.75
NEARLY_THE_SAME: Final = 0.8
CERTAIN: Final = 0.5
NEWER_BY_DAYS: Final = 90
OPENING: Final = 5
TOPIC_WORDS: Final = 8
MOST_REMEMBERED: Final = 1000

_BOUND: Final = re.compile(
    r"\b(?:at least|at most|up to|more than|less than|fewer than|over|under|about|around|approximately|roughly|nearly"
    r"|almost|some|estimated|between|average|typically|usually|often|(?-i:may)|might|could)\b|[~≈<>±]",
    re.IGNORECASE,
)
_CONDITION: Final = re.compile(r"\b(?:if|when|unless|except|only|while|during|among|under)\b", re.IGNORECASE)
_NAME: Final = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w'’-]*")
_WORD: Final = re.compile(r"[\w'’-]+")
_ORDINAL: Final = re.compile(
    r"\b(?:\d+(?:st|nd|rd|th)|first|second|third|(?:four|fif|six|seven|eigh|nin|ten|eleven|twelf|\w+teen|twentie)th)\b",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[.!]\W*$")


@dataclass(frozen=True)
class Witness:
    """What one document says in one place. `document` identifies it, `title` says what it is about."""

    text: str
    document: str
    title: str = ""
    published: date | None = None


@dataclass(frozen=True)
class DetectedConflict:
    """In what the two differ, how the difference is to be taken, what they both speak of, and what each says of it.

    `sides` come sorted, so that copies of a quarrel are known by them; they are empty for a polarity.
    """

    kind: Kind
    stance: Stance
    topic: str
    sides: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Difference:
    """In what two readings differ, be they of sentences or of clauses."""

    kind: Kind
    ours: "_Reading"
    theirs: "_Reading"
    sides: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Reading:
    """A witness's sentence or a clause of it. `stems` leaves out the words that only turn a statement round.

    `opening` are the names among the first words, where a sentence says what it is about if it does.
    """

    text: str
    figures: Numbers
    stems: frozenset[str]
    names: frozenset[str]
    opening: frozenset[str]
    title: frozenset[str]
    denials: int


class ConflictDetector:
    """Compares witnesses; holds the stemmer it compares them by, and what it has just read."""

    def __init__(self, stems: WordStemmer) -> None:
        self._stems = stems
        self._turning = Polarity(stems).opposites
        self._name_nothing = self._turning.union(stems.content_stems(" ".join(MONTHS)))
        self._stances = StanceClassifier(stems)
        self._met: dict[tuple[str, str], _Reading] = {}

    def between(self, one: Witness, other: Witness) -> DetectedConflict | None:
        """How two witnesses disagree, or None when they do not, or when that cannot be said with some certainty."""
        if one.document == other.document or one.text == other.text:
            return None
        if looks_like_a_row(one.text) or looks_like_a_row(other.text):
            return None  # what a row is about, its table knows: two of one name need not speak of the same
        ours, theirs = self._read(one.text, one.title), self._read(other.text, other.title)
        found = self._differ(ours, theirs) or self._clauses_differ(one, other) or self._other_name(ours, theirs)
        if found is None:
            return None
        return DetectedConflict(found.kind, _stance(found, one, other), self._topic(found), found.sides)

    def _read(self, text: str, title: str) -> _Reading:
        if len(self._met) >= MOST_REMEMBERED:
            self._met.clear()
        if (text, title) not in self._met:
            self._met[text, title] = self._reading(text, title)
        return self._met[text, title]

    def _reading(self, text: str, title: str) -> _Reading:
        figures = parse_numbers(without_references(text))
        stated = " ".join(word for word in words(figures.rest) if not is_negation(word))
        return _Reading(
            text=text,
            figures=figures,
            stems=frozenset(self._stems.content_stems(stated)) - self._turning,
            names=self._names(figures.rest),
            opening=self._names(" ".join(_WORD.findall(figures.rest)[:OPENING])),
            title=frozenset(stem for stem in self._stems.content_stems(title) if stem.isalpha()),
            denials=sum(is_negation(word) for word in words(join_negations(text))),
        )

    def _names(self, text: str) -> frozenset[str]:
        return frozenset(self._stems.content_stems(" ".join(_NAME.findall(text)))) - self._name_nothing

    def _differ(self, ours: _Reading, theirs: _Reading, alike: float = ALIKE) -> _Difference | None:
        if _likeness(ours, theirs) < alike or _other_subject(ours, theirs) or "?" in ours.text + theirs.text:
            return None
        return _different_figure(ours, theirs) or _different_date(ours, theirs) or self._turned(ours, theirs)

    def _clauses_differ(self, one: Witness, other: Witness) -> _Difference | None:
        """One clause of a sentence may say the same thing otherwise, whatever the rest of the sentence adds."""
        mine, yours = clauses(one.text), clauses(other.text)
        if len(mine) == len(yours) == 1:
            return None
        pairs = ((self._read(ours, one.title), self._read(theirs, other.title)) for ours in mine for theirs in yours)
        return next((found for pair in pairs if (found := self._differ(*pair, VERY_ALIKE))), None)

    def _turned(self, ours: _Reading, theirs: _Reading) -> _Difference | None:
        """The same words, but one of them denied or turned into its opposite."""
        if not _same_numbers(ours, theirs):
            return None
        verdicts = [self._stances.of(claim.text, evidence.text) for claim, evidence in _held_against(ours, theirs)]
        opposed = all(verdict.stance == "contradicts" and verdict.weight >= CERTAIN for verdict in verdicts)
        return _Difference("polarity", ours, theirs) if verdicts and opposed else None

    def _other_name(self, ours: _Reading, theirs: _Reading) -> _Difference | None:
        """The same sentence about the same named thing, but for one name in it that is no part of an enumeration."""
        shared = len(ours.stems & theirs.stems)
        if shared < FEWEST_BESIDE_A_NAME or not ours.names & theirs.names or _nothing_in_common(ours, theirs):
            return None
        if ours.denials != theirs.denials or not _same_numbers(ours, theirs):
            return None
        if not all(_SENTENCE.search(reading.text) for reading in (ours, theirs)):
            return None  # a row or a heading, whose like stands in every list
        sides = swapped_names(_WORD.findall(ours.text), _WORD.findall(theirs.text))
        return _Difference("name", ours, theirs, tuple(sorted(sides))) if sides else None

    def _topic(self, found: _Difference) -> str:
        """The words they share, as the first one puts them."""
        shared = found.ours.stems & found.theirs.stems
        said = [
            word
            for word in _WORD.findall(found.ours.figures.rest)
            if shared.intersection(self._stems.content_stems(word))
        ]
        return " ".join(list(dict.fromkeys(said))[:TOPIC_WORDS])


def _likeness(ours: _Reading, theirs: _Reading) -> float:
    shared = ours.stems & theirs.stems
    return len(shared) / len(ours.stems | theirs.stems) if len(shared) >= FEWEST_SHARED else 0.0


def _held_against(ours: _Reading, theirs: _Reading) -> list[tuple[_Reading, _Reading]]:
    """Nearly the same words each against the other, a denial without a condition against whatever says more.

    What is never allowed is not allowed in May either; what is not allowed in May may still be in June.
    """
    if _likeness(ours, theirs) >= NEARLY_THE_SAME:
        return [(ours, theirs), (theirs, ours)]
    asserting, denying = sorted((ours, theirs), key=lambda reading: reading.denials)
    wholly = asserting.denials < denying.denials and denying.stems <= asserting.stems
    return [(denying, asserting)] if wholly else []


def _other_subject(ours: _Reading, theirs: _Reading) -> bool:
    """Each names something the other does not, or they have nothing in common."""
    return bool(ours.names - theirs.stems and theirs.names - ours.stems) or _nothing_in_common(ours, theirs)


def _nothing_in_common(ours: _Reading, theirs: _Reading) -> bool:
    """They open with no common name, and their titles differ."""
    return not ours.opening & theirs.opening and bool(ours.title - theirs.title and theirs.title - ours.title)


def _different_figure(ours: _Reading, theirs: _Reading) -> _Difference | None:
    """As many figures of a unit in each, one of them another. A bound or an estimate is no figure."""
    if _BOUND.search(ours.text) or _BOUND.search(theirs.text):
        return None
    if len(ours.figures.quantities) != len(theirs.figures.quantities):
        return None
    for unit in sorted({_counted(figure) for figure in ours.figures.quantities}):
        mine, yours = _of_unit(ours, unit), _of_unit(theirs, unit)
        odd = _odd_pair(mine, yours)
        if odd and (len(mine) == 1 or _likeness(ours, theirs) >= VERY_ALIKE):
            return _Difference("figure", ours, theirs, tuple(sorted(f"{figure.value:g} {unit}" for figure in odd)))
    return None


def _of_unit(reading: _Reading, unit: str) -> list[Figure]:
    return [figure for figure in reading.figures.quantities if _counted(figure) == unit]


def _counted(figure: Figure) -> str:
    return "" if figure.unit in STOP_WORDS else figure.unit


def _different_date(ours: _Reading, theirs: _Reading) -> _Difference | None:
    odd = _odd_pair(ours.figures.moments, theirs.figures.moments)
    if not odd or _likeness(ours, theirs) < VERY_ALIKE:
        return None
    return _Difference("date", ours, theirs, tuple(sorted(map(_written, odd))))


def _odd_pair(ours: Sequence[_Value], theirs: Sequence[_Value]) -> tuple[_Value, ...]:
    """The one value of each side that the other side does not give, when all the others are given by both."""
    mine = [each for each in ours if not any(each.agrees(other) for other in theirs)]
    yours = [each for each in theirs if not any(each.agrees(other) for other in ours)]
    return (mine[0], yours[0]) if len(ours) == len(theirs) and len(mine) == len(yours) == 1 else ()


def _written(moment: Moment) -> str:
    return f"{moment.year:04}-{moment.month:02}-{moment.day:02}"


def _same_numbers(ours: _Reading, theirs: _Reading) -> bool:
    return ours.figures.quantities == theirs.figures.quantities and ours.figures.moments == theirs.figures.moments


def _stance(found: _Difference, one: Witness, other: Witness) -> Stance:
    """Another time, place or ordinal makes another scope, a condition qualifies, a newer document supersedes."""
    kind, ours, theirs = found.kind, found.ours, found.theirs
    if _other_time(found, one, other) or _ordinals(ours) != _ordinals(theirs):
        return "different_scope"
    if kind != "name" and (ours.names - theirs.stems or theirs.names - ours.stems):
        return "different_scope"
    if bool(_CONDITION.search(one.text)) != bool(_CONDITION.search(other.text)):
        return "qualifies"
    if kind != "date" and one.published and other.published:
        apart = abs((one.published - other.published).days)
        return "superseded" if apart >= NEWER_BY_DAYS else "contradicts"
    return "contradicts"


def _other_time(found: _Difference, one: Witness, other: Witness) -> bool:
    """Dates that differ are other times if they only say for when; statements without any, if their documents do."""
    ours, theirs = found.ours, found.theirs
    if found.kind == "date":
        return bool(_odd_pair(periods(ours.text), periods(theirs.text)))
    undated = not ours.figures.moments and not theirs.figures.moments
    return not _same_time(ours, theirs) or (undated and are_editions(one.title, other.title))


def _ordinals(reading: _Reading) -> set[str]:
    return {ordinal.casefold() for ordinal in _ORDINAL.findall(reading.text)}


def _same_time(ours: _Reading, theirs: _Reading) -> bool:
    mine, yours = ours.figures.moments, theirs.figures.moments
    return len(mine) == len(yours) and all(any(one.agrees(other) for other in yours) for one in mine)
