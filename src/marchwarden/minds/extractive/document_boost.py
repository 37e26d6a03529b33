"""What speaks for a sentence besides its words: the document it stands in, and, given a model of it, its meaning.

Added to a relevance, to order sentences by; no evidence by itself. Knows nothing of thresholds.
"""

import math
from collections.abc import Sequence
from typing import Final

from marchwarden.core.notebook import Notebook
from marchwarden.evidence.ranking.semantic import Similarity
from marchwarden.minds.extractive.question import Question
from marchwarden.minds.extractive.statements import Statement

GOOD_DOCUMENT: Final = 0.3
TITLE_ASKED_FOR: Final = 0.16
# Fitted beside the relevance to which sentence answers, on questions of two open sets; raised when `FEW` came in.
MEANING: Final = 0.5
MEANING_AROUND: Final = 0.65
MEANING_OF_TITLE: Final = 0.33
FEW: Final = 30
"""Sentences among which one comes near in meaning for a reason. Of more, some do by chance: it counts less then."""


def lifts(
    question: Question,
    statements: Sequence[Statement],
    relevances: Sequence[float],
    notebook: Notebook,
    similarity: Similarity | None,
) -> list[float]:
    """For each statement what its company adds."""
    by_document = _by_document(question, statements, relevances)
    own = [by_document[statement.passage.document] for statement in statements]
    if similarity is None:
        return own
    return [lift + meant for lift, meant in zip(own, _meant(question, statements, notebook, similarity), strict=True)]


def _by_document(question: Question, statements: Sequence[Statement], relevances: Sequence[float]) -> dict[int, float]:
    """How good the best sentence of a document is beside the best of all, and how much of its title is asked for."""
    best: dict[int, float] = {}
    titles: dict[int, float] = {}
    asked = frozenset(question.stems)
    for statement, relevance in zip(statements, relevances, strict=True):
        document = statement.passage.document
        best[document] = max(relevance, best.get(document, 0.0))
        titles[document] = len(statement.title & asked) / max(len(statement.title), 1)
    top = max(best.values(), default=0.0) or 1.0
    return {at: GOOD_DOCUMENT * best[at] / top + TITLE_ASKED_FOR * titles[at] for at in best}


def _meant(
    question: Question, statements: Sequence[Statement], notebook: Notebook, similarity: Similarity
) -> list[float]:
    """How near sentence, passage and title come to the question in meaning."""
    said = similarity.similar(question.text, [statement.text for statement in statements])
    around = similarity.similar(question.text, [notebook.text_of(statement.passage) for statement in statements])
    titles = [notebook.documents[statement.passage.document].title or " " for statement in statements]
    titled = similarity.similar(question.text, titles)
    trust = min(1.0, math.sqrt(FEW / max(len(statements), 1)))
    near = zip(said, around, titled, strict=True)
    return [
        trust * (MEANING * own + MEANING_AROUND * passage + MEANING_OF_TITLE * title) for own, passage, title in near
    ]
