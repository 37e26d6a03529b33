"""Boost sentences by the document they are in and, with a semantic model, by their meaning.

Boosts change the order of sentences. They never make a sentence count as relevant.
"""

import math
from collections.abc import Sequence
from typing import Final

from marchwarden.core.notebook import Notebook
from marchwarden.evidence.ranking.semantic import Similarity
from marchwarden.minds.extractive.question import ParsedQuestion
from marchwarden.minds.extractive.statements import Statement

DOCUMENT_WEIGHT: Final = 0.3
TITLE_WEIGHT: Final = 0.16
# Fitted together with the relevance on questions of two open sets, then raised when `FEW` was added.
SEMANTIC_WEIGHT: Final = 0.5
SEMANTIC_PASSAGE_WEIGHT: Final = 0.65
SEMANTIC_TITLE_WEIGHT: Final = 0.33
FEW: Final = 30
"""Up to this many sentences, similarity counts fully. Among more, some are similar by chance, so it counts less."""


def document_boosts(
    question: ParsedQuestion,
    statements: Sequence[Statement],
    relevances: Sequence[float],
    notebook: Notebook,
    similarity: Similarity | None,
) -> list[float]:
    """Return the boost of each statement."""
    by_document = _by_document(question, statements, relevances)
    own = [by_document[statement.passage.document] for statement in statements]
    if similarity is None:
        return own
    return [
        boost + semantic
        for boost, semantic in zip(own, _semantic_boosts(question, statements, notebook, similarity), strict=True)
    ]


def _by_document(
    question: ParsedQuestion, statements: Sequence[Statement], relevances: Sequence[float]
) -> dict[int, float]:
    """Return each document's boost from its best relevance and from the share of its title in the question."""
    best: dict[int, float] = {}
    titles: dict[int, float] = {}
    question_stems = frozenset(question.stems)
    for statement, relevance in zip(statements, relevances, strict=True):
        document = statement.passage.document
        best[document] = max(relevance, best.get(document, 0.0))
        titles[document] = len(statement.title & question_stems) / max(len(statement.title), 1)
    top = max(best.values(), default=0.0) or 1.0
    return {at: DOCUMENT_WEIGHT * best[at] / top + TITLE_WEIGHT * titles[at] for at in best}


def _semantic_boosts(
    question: ParsedQuestion, statements: Sequence[Statement], notebook: Notebook, similarity: Similarity
) -> list[float]:
    """Return boosts for the similarity of sentence, passage and title to the question."""
    sentences = similarity.similar(question.text, [statement.text for statement in statements])
    passages = similarity.similar(question.text, [notebook.text_of(statement.passage) for statement in statements])
    titles = [notebook.documents[statement.passage.document].title or " " for statement in statements]
    title_similarities = similarity.similar(question.text, titles)
    trust = min(1.0, math.sqrt(FEW / max(len(statements), 1)))
    similarities = zip(sentences, passages, title_similarities, strict=True)
    return [
        trust * (SEMANTIC_WEIGHT * own + SEMANTIC_PASSAGE_WEIGHT * passage + SEMANTIC_TITLE_WEIGHT * title)
        for own, passage, title in similarities
    ]
