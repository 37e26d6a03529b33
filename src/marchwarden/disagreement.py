"""Whether two excerpts give different figures, dates, names or polarity for the same thing. Knows no minds and no runs.

Cautious on purpose: an invented quarrel costs more trust than one overlooked.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from typing import Final, Literal, TypeVar

from marchwarden.figures import Figure, Figures, Moment, figures_in
from marchwarden.notebook import Stance
from marchwarden.polarity import Polarity, denies, spelled
from marchwarden.ranking.terms import STOP_WORDS, Stems, words
from marchwarden.stance import Stances

Kind = Literal["figure", "date", "polarity", "name"]
_Value = TypeVar("_Value", Figure, Moment)

FEWEST_SHARED: Final = 3
FEWEST_BESIDE_A_NAME: Final = 4
LONGEST_NAME: Final = 5
ALIKE: Final = 0.6
VERY_ALIKE: Final = 0.75
NEARLY_THE_SAME: Final = 0.8
SAME_NAME: Final = 0.7
CERTAIN: Final = 0.5
NEWER_BY_DAYS: Final = 90
OPENING: Final = 5
TOPIC_WORDS: Final = 8
MOST_REMEMBERED: Final = 1000

_BOUND: Final = re.compile(
    r"\b(?:at least|at most|up to|more than|less than|fewer than|over|under|about|around|approximately|roughly|nearly"
    r"|almost|some|estimated|between|average|typically|usually|often|may|might|could)\b|[~≈<>±]",
    re.IGNORECASE,
)
_CONDITION: Final = re.compile(r"\b(?:if|when|unless|except|only|while|during|among|under)\b", re.IGNORECASE)
_NAME: Final = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w'’-]*")
_WORD: Final = re.compile(r"[\w'’-]+")
_CLAUSES: Final = re.compile(r"[;:]\s|,\s+(?:and|but|while|whereas|which|who|although|though)\b")
_SENTENCE: Final = re.compile(r"[.!]\W*$")
_ENUMERATES: Final = frozenset({"and", "or", "including"})
_LINKS: Final = frozenset({"of", "the", "de", "la", "van", "von"})


@dataclass(frozen=True)
class Witness:
    """What one document says in one place. `document` identifies it, `title` says what it is about."""

    text: str
    document: str
    title: str = ""
    published: date | None = None


@dataclass(frozen=True)
class Disagreement:
    """In what the two differ, how the difference is to be taken, what they both speak of, and what each says of it.

    `sides` come sorted, so that copies of a quarrel are known by them; they are empty for a polarity.
    """

    kind: Kind
    stance: Stance
    topic: str
    sides: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Difference:
    kind: Kind
    sides: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Reading:
    """A witness's sentence or a clause of it. `stems` leaves out the words that only turn a statement round.

    `opening` are the names among the first words, where a sentence says what it is about if it does.
    """

    text: str
    figures: Figures
    stems: frozenset[str]
    names: frozenset[str]
    opening: frozenset[str]
    title: frozenset[str]
    denials: int


class Disagreements:
    """Compares witnesses; holds the stemmer it compares them by, and what it has just read."""

    def __init__(self, stems: Stems) -> None:
        self._stems = stems
        self._turning = Polarity(stems).turning
        self._stances = Stances(stems)
        self._met: dict[tuple[str, str], _Reading] = {}

    def between(self, one: Witness, other: Witness) -> Disagreement | None:
        """How two witnesses disagree, or None when they do not, or when that cannot be said with some certainty."""
        if one.document == other.document or one.text == other.text:
            return None
        ours, theirs = self._read(one.text, one.title), self._read(other.text, other.title)
        found = self._differ(ours, theirs) or self._clauses_differ(ours, theirs, one.title, other.title)
        found = found or self._other_name(ours, theirs)
        if found is None:
            return None
        stance = _stance(found.kind, ours, theirs, one.published, other.published)
        return Disagreement(found.kind, stance, self._topic(ours, theirs), found.sides)

    def _read(self, text: str, title: str) -> _Reading:
        if len(self._met) >= MOST_REMEMBERED:
            self._met.clear()
        if (text, title) not in self._met:
            self._met[text, title] = self._reading(text, title)
        return self._met[text, title]

    def _reading(self, text: str, title: str) -> _Reading:
        figures = figures_in(text)
        stated = " ".join(word for word in words(figures.rest) if not denies(word))
        return _Reading(
            text=text,
            figures=figures,
            stems=frozenset(self._stems.of(stated)) - self._turning,
            names=self._names(figures.rest),
            opening=self._names(" ".join(_WORD.findall(figures.rest)[:OPENING])),
            title=frozenset(stem for stem in self._stems.of(title) if stem.isalpha()),
            denials=sum(denies(word) for word in words(spelled(text))),
        )

    def _names(self, text: str) -> frozenset[str]:
        return frozenset(self._stems.of(" ".join(_NAME.findall(text)))) - self._turning

    def _differ(self, ours: _Reading, theirs: _Reading, alike: float = ALIKE) -> _Difference | None:
        if _likeness(ours, theirs) < alike or _other_subject(ours, theirs) or "?" in ours.text + theirs.text:
            return None
        return _different_figure(ours, theirs) or _different_date(ours, theirs) or self._turned(ours, theirs)

    def _clauses_differ(self, ours: _Reading, theirs: _Reading, *titles: str) -> _Difference | None:
        """One clause of a sentence may say the same thing otherwise, whatever the rest of the sentence adds."""
        mine, yours = _CLAUSES.split(ours.text), _CLAUSES.split(theirs.text)
        if len(mine) == len(yours) == 1:
            return None
        pairs = ((self._read(one, titles[0]), self._read(other, titles[1])) for one in mine for other in yours)
        return next((found for pair in pairs if (found := self._differ(*pair, VERY_ALIKE))), None)

    def _turned(self, ours: _Reading, theirs: _Reading) -> _Difference | None:
        """Nearly the same words, but one of them denied or turned into its opposite."""
        if _likeness(ours, theirs) < NEARLY_THE_SAME or not _same_numbers(ours, theirs):
            return None
        verdicts = self._stances.of(ours.text, theirs.text), self._stances.of(theirs.text, ours.text)
        opposed = all(verdict.stance == "contradicts" and verdict.weight >= CERTAIN for verdict in verdicts)
        return _Difference("polarity") if opposed else None

    def _other_name(self, ours: _Reading, theirs: _Reading) -> _Difference | None:
        """The same sentence about the same named thing, but for one name in it that is no part of an enumeration."""
        shared = len(ours.stems & theirs.stems)
        if shared < FEWEST_BESIDE_A_NAME or not ours.names & theirs.names or _nothing_in_common(ours, theirs):
            return None
        if ours.denials != theirs.denials or not _same_numbers(ours, theirs):
            return None
        if not all(_SENTENCE.search(reading.text) for reading in (ours, theirs)):
            return None  # a row or a heading, whose like stands in every list
        sides = _swapped_names(_WORD.findall(ours.text), _WORD.findall(theirs.text))
        return _Difference("name", tuple(sorted(sides))) if sides else None

    def _topic(self, ours: _Reading, theirs: _Reading) -> str:
        """The words they share, as the first one puts them."""
        shared = ours.stems & theirs.stems
        said = [word for word in _WORD.findall(ours.figures.rest) if shared.intersection(self._stems.of(word))]
        return " ".join(list(dict.fromkeys(said))[:TOPIC_WORDS])


def _likeness(ours: _Reading, theirs: _Reading) -> float:
    shared = ours.stems & theirs.stems
    return len(shared) / len(ours.stems | theirs.stems) if len(shared) >= FEWEST_SHARED else 0.0


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
            return _Difference("figure", tuple(sorted(f"{figure.value:g} {unit}" for figure in odd)))
    return None


def _of_unit(reading: _Reading, unit: str) -> list[Figure]:
    return [figure for figure in reading.figures.quantities if _counted(figure) == unit]


def _counted(figure: Figure) -> str:
    return "" if figure.unit in STOP_WORDS else figure.unit


def _different_date(ours: _Reading, theirs: _Reading) -> _Difference | None:
    odd = _odd_pair(ours.figures.moments, theirs.figures.moments)
    if not odd or _likeness(ours, theirs) < VERY_ALIKE:
        return None
    return _Difference("date", tuple(sorted(map(_written, odd))))


def _odd_pair(ours: Sequence[_Value], theirs: Sequence[_Value]) -> tuple[_Value, ...]:
    """The one value of each side that the other side does not give, when all the others are given by both."""
    mine = [each for each in ours if not any(each.agrees(other) for other in theirs)]
    yours = [each for each in theirs if not any(each.agrees(other) for other in ours)]
    return (mine[0], yours[0]) if len(ours) == len(theirs) and len(mine) == len(yours) == 1 else ()


def _written(moment: Moment) -> str:
    return f"{moment.year:04}-{moment.month:02}-{moment.day:02}"


def _same_numbers(ours: _Reading, theirs: _Reading) -> bool:
    return ours.figures.quantities == theirs.figures.quantities and ours.figures.moments == theirs.figures.moments


def _swapped_names(ours: list[str], theirs: list[str]) -> tuple[str, ...]:
    """The two names in whose place alone the sentences differ, empty words aside; nothing when there is more."""
    swaps: list[tuple[str, str]] = []
    one, other = ([word.casefold() for word in said] for said in (ours, theirs))
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    for change, start, end, other_start, other_end in matcher.get_opcodes():
        if change == "equal" or (change != "replace" and not (start and other_start)):
            continue  # a heading may have run into one of them
        mine, yours = _described(ours[start:end]), _described(theirs[other_start:other_end])
        if all(word.casefold() in STOP_WORDS for word in (*mine, *yours)):
            continue
        if not start or not other_start or not (_is_name(mine) and _is_name(yours)):
            return ()
        if ours[start - 1][0].isupper() or _ENUMERATES.intersection(one[start - 1 : start] + one[end : end + 1]):
            return ()
        swaps.append((" ".join(mine), " ".join(yours)))
    return swaps[0] if len(swaps) == 1 and not _spelled_otherwise(*swaps[0]) else ()


def _described(said: list[str]) -> list[str]:
    """A name without the one word that says what its bearer is: `widow Agnes Pohl`."""
    return said[1:] if len(said) > 1 and said[0].islower() and said[1][0].isupper() else said


def _spelled_otherwise(one: str, other: str) -> bool:
    return SequenceMatcher(None, one.casefold(), other.casefold(), autojunk=False).ratio() >= SAME_NAME


def _is_name(said: list[str]) -> bool:
    own = [word for word in said if word.casefold() not in _LINKS]
    return 0 < len(own) <= LONGEST_NAME and all(word[0].isupper() for word in own)


def _stance(kind: Kind, ours: _Reading, theirs: _Reading, *published: date | None) -> Stance:
    """Another year or place makes another scope, a condition qualifies, a newer document supersedes."""
    if kind != "date" and not _same_time(ours, theirs):
        return "different_scope"
    if kind != "name" and (ours.names - theirs.stems or theirs.names - ours.stems):
        return "different_scope"
    if bool(_CONDITION.search(ours.text)) != bool(_CONDITION.search(theirs.text)):
        return "qualifies"
    one, other = published
    if kind != "date" and one and other and abs((one - other).days) >= NEWER_BY_DAYS:
        return "superseded"
    return "contradicts"


def _same_time(ours: _Reading, theirs: _Reading) -> bool:
    mine, yours = ours.figures.moments, theirs.figures.moments
    return len(mine) == len(yours) and all(any(one.agrees(other) for other in yours) for one in mine)
