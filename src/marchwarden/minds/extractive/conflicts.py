"""Where relevant sentences of different documents do not agree with each other."""

from itertools import combinations
from typing import Final

from marchwarden.disagreement import Disagreements, Witness
from marchwarden.minds.extractive.survey import Judged, Survey
from marchwarden.notebook import Conflict

MOST: Final = 3
COMPARED: Final = 16
RELEVANT: Final = 0.6


def conflicts(survey: Survey, disagreements: Disagreements) -> tuple[Conflict, ...]:
    """Pairs of the best sentences that contradict, supersede or qualify each other; another scope is no quarrel."""
    floor = RELEVANT * max((judged.relevance for judged in survey.ranked[:1]), default=0.0)
    close = [judged for judged in survey.ranked[:COMPARED] if judged.relevance >= floor]
    told: dict[frozenset[str], Conflict] = {}
    for one, other in combinations(close, 2):
        found = disagreements.between(_witness(survey, one), _witness(survey, other))
        if found is None or found.stance == "different_scope":
            continue
        # A copy of either side says the same words, or at least the same thing, and is not told again.
        sides = frozenset(found.sides or (one.statement.text, other.statement.text))
        conflict = Conflict(found.topic, found.kind, one.statement.evidence, other.statement.evidence, found.stance)
        told.setdefault(sides, conflict)
    return tuple(told.values())[:MOST]


def _witness(survey: Survey, judged: Judged) -> Witness:
    document = survey.notebook.documents[judged.statement.passage.document]
    return Witness(judged.statement.text, document.locator, document.title, document.published)
