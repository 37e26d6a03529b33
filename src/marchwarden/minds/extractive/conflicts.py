"""Where relevant sentences of different documents do not agree with each other."""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from itertools import combinations
from typing import Final

from marchwarden.core.notebook import Conflict, Notebook
from marchwarden.evidence.conflicts import ConflictDetector, Kind, Witness
from marchwarden.minds.extractive.pronouns import spoken_of
from marchwarden.minds.extractive.question import Expected, Question
from marchwarden.minds.extractive.statements import Statement
from marchwarden.minds.extractive.survey import Survey

MOST: Final = 3
COMPARED: Final = 16
RELEVANT: Final = 0.6

_ASKED_FOR: Final[Mapping[Expected, Kind]] = {
    Expected.DATE: "date",
    Expected.NUMBER: "figure",
    Expected.PERSON: "name",
    Expected.PLACE: "name",
    Expected.REASON: "polarity",
}
_PRONOUN: Final = re.compile(r"^(?:It|He|She|They)\b")


def conflicts(survey: Survey, disagreements: ConflictDetector) -> tuple[Conflict, ...]:
    """Pairs of the best sentences that contradict, supersede or qualify each other in what is asked for."""
    floor = RELEVANT * max((judged.relevance for judged in survey.ranked[:1]), default=0.0)
    sentences = (judged for judged in survey.ranked[:COMPARED] if not judged.statement.cited_with)
    close = [judged for judged in sentences if judged.relevance >= floor]
    witnesses = [(judged.statement, _witness(survey, judged.statement)) for judged in close]
    questions = [scorer.question for scorer in survey.aspects.values() or (survey.whole,)]
    told: dict[frozenset[str], Conflict] = {}
    for (one, here), (other, there) in combinations(witnesses, 2):
        found = disagreements.between(here, there)
        if found is None or found.stance == "different_scope":
            continue
        if not any(_is_asked(question, found.kind, one.distinct | other.distinct) for question in questions):
            continue
        # A copy of either side says the same words, or at least the same thing, and is not told again.
        sides = frozenset(found.sides or (one.text, other.text))
        conflict = Conflict(found.topic, found.kind, one.evidence, other.evidence, found.stance)
        told.setdefault(sides, conflict)
    return tuple(told.values())[:MOST]


def _is_asked(question: Question, kind: Kind, said: AbstractSet[str]) -> bool:
    """A quarrel about a date is none of a question for a person, nor is the height of a tower of one for its birds.

    Unless the very kind of thing is asked for, what is said must share more with the question than names.
    """
    asked_for = _ASKED_FOR.get(question.expected)
    if asked_for is None or kind == "polarity":
        matter = set(question.stems) - question.key - question.light
        return not matter or bool(matter & said)
    return kind == asked_for


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
