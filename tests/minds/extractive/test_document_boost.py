"""Boosts with a similarity that rates every text the same."""

from collections.abc import Sequence

import pytest

from marchwarden.core.notebook import Document, Notebook
from marchwarden.minds.extractive.document_boost import (
    FEW,
    SEMANTIC_PASSAGE_WEIGHT,
    SEMANTIC_TITLE_WEIGHT,
    SEMANTIC_WEIGHT,
    document_boosts,
)
from marchwarden.minds.extractive.question import parse_question
from marchwarden.minds.extractive.statements import statements
from marchwarden.text.words import WordStemmer

STEMS = WordStemmer()


class ConstantSimilarity:
    """A similarity of 1 for every text."""

    def similar(self, _question: str, texts: Sequence[str]) -> list[float]:
        return [1.0] * len(texts)


@pytest.mark.parametrize(("sentences", "trust"), [(1, 1.0), (FEW, 1.0), (4 * FEW, 0.5)])
def test_similarity_counts_less_among_many_sentences(sentences: int, trust: float) -> None:
    text = " ".join(f"The keeper wrote line {number} of the log." for number in range(sentences))
    notebook = Notebook("Who painted the altar?")
    notebook.add(Document("file", "log.txt", text.encode(), text))
    found = statements(notebook, notebook.passages, STEMS)
    assert len(found) == sentences
    asked = parse_question(notebook.question, STEMS)
    nothing = [0.0] * sentences
    without_similarity, with_similarity = (
        document_boosts(asked, found, nothing, notebook, similarity) for similarity in (None, ConstantSimilarity())
    )
    most = SEMANTIC_WEIGHT + SEMANTIC_PASSAGE_WEIGHT + SEMANTIC_TITLE_WEIGHT
    assert [more - less for more, less in zip(with_similarity, without_similarity, strict=True)] == pytest.approx(
        [trust * most] * sentences
    )
