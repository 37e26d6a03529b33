"""Whether two excerpts give different figures, dates or polarity for the same thing. Knows no minds and no runs.

Cautious on purpose: an invented quarrel costs more trust than one overlooked.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from marchwarden.figures import Figure, Figures, figures_in
from marchwarden.notebook import Stance
from marchwarden.ranking.terms import STOP_WORDS, Stems, words

Kind = Literal["figure", "date", "polarity"]

FEWEST_SHARED: Final = 3
ALIKE: Final = 0.6
VERY_ALIKE: Final = 0.75
NEWER_BY_DAYS: Final = 90
TOPIC_WORDS: Final = 8

_DENYING: Final = """
    not no never none neither nor cannot without isn't wasn't aren't weren't doesn't don't didn't can't won't hasn't
    haven't couldn't wouldn't shouldn't
"""
_NEGATIONS: Final = frozenset(_DENYING.split())
_OPPOSITES: Final = tuple(
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        ("increase increases increased increasing", "decrease decreases decreased decreasing"),
        ("rise rises rose rising risen", "fall falls fell falling fallen"),
        ("grow grows grew grown growing", "shrink shrinks shrank shrunk shrinking"),
        ("gain gains gained", "lose loses lost"),
        ("higher", "lower"),
        ("accept accepts accepted", "reject rejects rejected"),
        ("allow allows allowed permits permitted", "forbid forbids forbidden prohibits prohibited"),
        ("win wins won", "lose loses lost"),
        ("safe", "unsafe"),
        ("effective", "ineffective"),
        ("enabled", "disabled"),
        ("true", "false"),
        ("before", "after"),
        ("required", "optional"),
    )
)
_TURNING: Final = frozenset().union(*(side for pair in _OPPOSITES for side in pair))
_BOUND: Final = re.compile(
    r"\b(?:at least|at most|up to|more than|less than|fewer than|over|under|about|around|approximately|roughly|nearly"
    r"|almost|some|estimated|between|average|typically|usually|often|may|might|could)\b|[~≈<>±]",
    re.IGNORECASE,
)
_CONDITION: Final = re.compile(r"\b(?:if|when|unless|except|only|while|during|among|under)\b", re.IGNORECASE)
_NAME: Final = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w'’-]*")


@dataclass(frozen=True)
class Witness:
    """What one document says in one place. `document` identifies it, `title` says what it is about."""

    text: str
    document: str
    title: str = ""
    published: date | None = None


@dataclass(frozen=True)
class Disagreement:
    """In what the two differ, how the difference is to be taken, and what they both speak of."""

    kind: Kind
    stance: Stance
    topic: str


@dataclass(frozen=True)
class _Reading:
    figures: Figures
    stems: frozenset[str]
    names: frozenset[str]
    title: frozenset[str]
    words: frozenset[str]
    witness: Witness


class Disagreements:
    """Compares witnesses; holds the stemmer it compares them by."""

    def __init__(self, stems: Stems) -> None:
        self._stems = stems

    def between(self, one: Witness, other: Witness) -> Disagreement | None:
        """How two witnesses disagree, or None when they do not, or when that cannot be said with some certainty."""
        if one.document == other.document or one.text == other.text:
            return None
        ours, theirs = self._read(one), self._read(other)
        if _likeness(ours, theirs) < ALIKE or _other_subject(ours, theirs):
            return None
        kind = _different_figure(ours, theirs) or _different_date(ours, theirs) or _different_polarity(ours, theirs)
        return Disagreement(kind, _stance(kind, ours, theirs), self._topic(ours, theirs)) if kind else None

    def _read(self, witness: Witness) -> _Reading:
        figures = figures_in(witness.text)
        stems = frozenset(self._stems.of(" ".join(word for word in words(figures.rest) if word not in _TURNING)))
        names = frozenset(stem for name in _NAME.findall(figures.rest) for stem in self._stems.of(name))
        title = frozenset(self._stems.of(witness.title))
        return _Reading(figures, stems, names, title, frozenset(words(witness.text)), witness)

    def _topic(self, ours: _Reading, theirs: _Reading) -> str:
        """The words they share, as the first one puts them."""
        shared = ours.stems & theirs.stems
        said = [
            word for word in re.findall(r"[\w'’-]+", ours.figures.rest) if shared.intersection(self._stems.of(word))
        ]
        return " ".join(list(dict.fromkeys(said))[:TOPIC_WORDS])


def _likeness(ours: _Reading, theirs: _Reading) -> float:
    shared = ours.stems & theirs.stems
    return len(shared) / len(ours.stems | theirs.stems) if len(shared) >= FEWEST_SHARED else 0.0


def _other_subject(ours: _Reading, theirs: _Reading) -> bool:
    """Each names something the other does not, or neither names anything and their titles have nothing in common."""
    if ours.names - theirs.stems and theirs.names - ours.stems:
        return True
    named = ours.names & theirs.names
    return not named and bool(ours.title and theirs.title) and ours.title.isdisjoint(theirs.title)


def _different_figure(ours: _Reading, theirs: _Reading) -> Kind | None:
    """One figure of a unit in each, and no rounding makes them one. A bound or an estimate is no figure."""
    if _BOUND.search(ours.witness.text) or _BOUND.search(theirs.witness.text):
        return None
    if len(ours.figures.quantities) != len(theirs.figures.quantities):
        return None
    for unit in sorted({_counted(figure) for figure in ours.figures.quantities}):
        mine, yours = _of_unit(ours, unit), _of_unit(theirs, unit)
        if len(mine) == len(yours) == 1 and not mine[0].agrees(yours[0]):
            return "figure"
    return None


def _of_unit(reading: _Reading, unit: str) -> list[Figure]:
    return [figure for figure in reading.figures.quantities if _counted(figure) == unit]


def _counted(figure: Figure) -> str:
    return "" if figure.unit in STOP_WORDS else figure.unit


def _different_date(ours: _Reading, theirs: _Reading) -> Kind | None:
    mine, yours = ours.figures.moments, theirs.figures.moments
    if len(mine) != 1 or len(yours) != 1 or mine[0].agrees(yours[0]):
        return None
    return "date" if _likeness(ours, theirs) >= VERY_ALIKE else None


def _different_polarity(ours: _Reading, theirs: _Reading) -> Kind | None:
    """Nearly the same words, but one of them denied or turned into its opposite."""
    if _likeness(ours, theirs) < VERY_ALIKE or not _same_numbers(ours, theirs):
        return None
    denied = len(ours.words & _NEGATIONS) != len(theirs.words & _NEGATIONS)
    turned = any(_turned(ours.words, theirs.words, *pair) for pair in _OPPOSITES)
    return "polarity" if denied != turned else None


def _same_numbers(ours: _Reading, theirs: _Reading) -> bool:
    return ours.figures.quantities == theirs.figures.quantities and ours.figures.moments == theirs.figures.moments


def _turned(ours: frozenset[str], theirs: frozenset[str], one: frozenset[str], other: frozenset[str]) -> bool:
    here, there = (bool(ours & one), bool(ours & other)), (bool(theirs & one), bool(theirs & other))
    return here in {(True, False), (False, True)} and there == here[::-1]


def _stance(kind: Kind, ours: _Reading, theirs: _Reading) -> Stance:
    """Another year or place makes another scope, a condition qualifies, a newer document supersedes."""
    if kind != "date" and not _same_time(ours, theirs):
        return "different_scope"
    if ours.names - theirs.stems or theirs.names - ours.stems:
        return "different_scope"
    if bool(_CONDITION.search(ours.witness.text)) != bool(_CONDITION.search(theirs.witness.text)):
        return "qualifies"
    dates = ours.witness.published, theirs.witness.published
    if kind != "date" and dates[0] and dates[1] and abs((dates[0] - dates[1]).days) >= NEWER_BY_DAYS:
        return "superseded"
    return "contradicts"


def _same_time(ours: _Reading, theirs: _Reading) -> bool:
    mine, yours = ours.figures.moments, theirs.figures.moments
    return len(mine) == len(yours) and all(any(one.agrees(other) for other in yours) for one in mine)
