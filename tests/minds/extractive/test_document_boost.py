"""What a sentence's company adds, with a similarity that finds everything equally near."""

from collections.abc import Sequence

import pytest

from marchwarden.core.notebook import Document, Notebook
from marchwarden.minds.extractive.document_boost import FEW, MEANING, MEANING_AROUND, MEANING_OF_TITLE, lifts
from marchwarden.minds.extractive.question import understood
from marchwarden.minds.extractive.statements import statements
from marchwarden.text.words import WordStemmer

STEMS = WordStemmer()


class Near:
    """Everything means the same."""

    def similar(self, _question: str, texts: Sequence[str]) -> list[float]:
        return [1.0] * len(texts)


@pytest.mark.parametrize(("sentences", "trust"), [(1, 1.0), (FEW, 1.0), (4 * FEW, 0.5)])
def test_among_many_sentences_nearness_in_meaning_counts_less(sentences: int, trust: float) -> None:
    text = " ".join(f"The keeper wrote line {number} of the log." for number in range(sentences))
    notebook = Notebook("Who painted the altar?")
    notebook.add(Document("file", "log.txt", text.encode(), text))
    said = statements(notebook, notebook.passages, STEMS)
    assert len(said) == sentences
    asked = understood(notebook.question, STEMS)
    nothing = [0.0] * sentences
    without, having = (lifts(asked, said, nothing, notebook, near) for near in (None, Near()))
    most = MEANING + MEANING_AROUND + MEANING_OF_TITLE
    assert [more - less for more, less in zip(having, without, strict=True)] == pytest.approx(
        [trust * most] * sentences
    )
