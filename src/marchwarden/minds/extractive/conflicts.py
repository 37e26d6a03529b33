"""Where relevant sentences of different documents do not agree with each other."""

import re
from collections.abc import Mapping
from itertools import combinations
from typing import Final

from marchwarden.disagreement import Disagreements, Kind, Witness
from marchwarden.minds.extractive.antecedents import spoken_of
from marchwarden.minds.extractive.question import Expected
from marchwarden.minds.extractive.statements import Statement
from marchwarden.minds.extractive.survey import Survey
from marchwarden.notebook import Conflict, Notebook

MOST: Final = 3
COMPARED: Final = 16
RELEVANT: Final = 0.6

_ANY: Final[frozenset[Kind]] = frozenset({"figure", "date", "name", "polarity"})
# A quarrel about a date is none of a question for a person. Where nothing particular is asked for, any may matter.
_ASKED_FOR: Final[Mapping[Expected, set[Kind]]] = {
    Expected.DATE: {"date", "polarity"},
    Expected.NUMBER: {"figure", "polarity"},
    Expected.PERSON: {"name", "polarity"},
    Expected.PLACE: {"name", "polarity"},
    Expected.REASON: {"polarity"},
}
_PRONOUN: Final = re.compile(r"^(?:It|He|She|They)\b")


def conflicts(survey: Survey, disagreements: Disagreements) -> tuple[Conflict, ...]:
    """Pairs of the best sentences that contradict, supersede or qualify each other in what is asked for."""
    floor = RELEVANT * max((judged.relevance for judged in survey.ranked[:1]), default=0.0)
    close = [judged for judged in survey.ranked[:COMPARED] if judged.relevance >= floor]
    witnesses = [(judged.statement, _witness(survey, judged.statement)) for judged in close]
    scorers = tuple(survey.aspects.values()) or (survey.whole,)
    asked_for = frozenset[Kind]().union(*(_ASKED_FOR.get(each.question.expected, _ANY) for each in scorers))
    told: dict[frozenset[str], Conflict] = {}
    for (one, here), (other, there) in combinations(witnesses, 2):
        found = disagreements.between(here, there)
        if found is None or found.stance == "different_scope" or found.kind not in asked_for:
            continue
        # A copy of either side says the same words, or at least the same thing, and is not told again.
        sides = frozenset(found.sides or (one.text, other.text))
        conflict = Conflict(found.topic, found.kind, one.evidence, other.evidence, found.stance)
        told.setdefault(sides, conflict)
    return tuple(told.values())[:MOST]


def _witness(survey: Survey, statement: Statement) -> Witness:
    document = survey.notebook.documents[statement.passage.document]
    text = _naming(statement, document.title, survey.notebook)
    return Witness(text, document.locator, document.title, document.published)


def _naming(statement: Statement, title: str, notebook: Notebook) -> str:
    """With the title for a pronoun that opens it, where the sentence before opens with the title: it means that."""
    named = re.compile(rf"(?:The )?{re.escape(title)}\b", re.IGNORECASE)
    if title and any(named.match(each.text) for each in spoken_of(notebook, statement)):
        return _PRONOUN.sub(lambda _: title, statement.text)
    return statement.text
