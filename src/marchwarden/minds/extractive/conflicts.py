"""Find conflicts between relevant sentences of different documents."""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from itertools import combinations
from typing import Final

from marchwarden.core.notebook import Conflict, Notebook
from marchwarden.evidence.conflicts import ComparedText, ConflictDetector, Kind
from marchwarden.minds.extractive.pronouns import find_antecedent
from marchwarden.minds.extractive.question import AnswerType, ParsedQuestion
from marchwarden.minds.extractive.statements import Statement
from marchwarden.minds.extractive.survey import Survey

MOST: Final = 3
COMPARED: Final = 16
RELEVANT: Final = 0.6

_ASKED_FOR: Final[Mapping[AnswerType, Kind]] = {
    AnswerType.DATE: "date",
    AnswerType.NUMBER: "figure",
    AnswerType.PERSON: "name",
    AnswerType.PLACE: "name",
    AnswerType.REASON: "polarity",
}
_PRONOUN: Final = re.compile(r"^(?:It|He|She|They)\b")


def find_conflicts(survey: Survey, detector: ConflictDetector) -> tuple[Conflict, ...]:
    """Return pairs of top sentences that contradict, supersede or qualify each other about the question."""
    floor = RELEVANT * max((scored.relevance for scored in survey.ranked[:1]), default=0.0)
    sentences = (scored for scored in survey.ranked[:COMPARED] if not scored.statement.cited_with)
    close = [scored for scored in sentences if scored.relevance >= floor]
    compared = [(scored.statement, _compared_text(survey, scored.statement)) for scored in close]
    questions = [scorer.question for scorer in survey.aspects.values() or (survey.question_scorer,)]
    found_by_sides: dict[frozenset[str], Conflict] = {}
    for (one, first), (other, second) in combinations(compared, 2):
        found = detector.compare(first, second)
        if found is None or found.stance == "different_scope":
            continue
        if not any(_is_relevant(question, found.kind, one.stem_set | other.stem_set) for question in questions):
            continue
        # Copies of a conflict have the same sides and are reported once.
        sides = frozenset(found.sides or (one.text, other.text))
        conflict = Conflict(found.topic, found.kind, one.evidence, other.evidence, found.stance)
        found_by_sides.setdefault(sides, conflict)
    return tuple(found_by_sides.values())[:MOST]


def _is_relevant(question: ParsedQuestion, kind: Kind, sentence_stems: AbstractSet[str]) -> bool:
    """Whether the conflict concerns what the question asks for.

    A question about a person ignores conflicting dates. If the question expects no particular kind of answer, the
    sentences must share more than names with it.
    """
    asked_for = _ASKED_FOR.get(question.expected)
    if asked_for is None or kind == "polarity":
        matter = set(question.stems) - question.key - question.light
        return not matter or bool(matter & sentence_stems)
    return kind == asked_for


def _compared_text(survey: Survey, statement: Statement) -> ComparedText:
    document = survey.notebook.documents[statement.passage.document]
    text = _resolve_pronoun(statement, document.title, survey.notebook)
    return ComparedText(text, document.locator, document.title, document.published)


def _resolve_pronoun(statement: Statement, title: str, notebook: Notebook) -> str:
    """Replace a leading pronoun with the title, if the sentence before starts with the title."""
    starts_with_title = re.compile(rf"(?:The )?{re.escape(title)}\b", re.IGNORECASE)
    if title and any(starts_with_title.match(each.text) for each in find_antecedent(notebook, statement)):
        return _PRONOUN.sub(lambda _: title, statement.text)
    return statement.text
