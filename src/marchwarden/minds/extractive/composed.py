"""Statements made of more than one line, and what they are therefore cited with."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from marchwarden.core.notebook import Document, Notebook
from marchwarden.core.passages import Sentence
from marchwarden.text.markdown import strip_markup
from marchwarden.text.words import WordStemmer

CLOSING: Final = r"[\"'”’)\]*_`]*$"
"""What may stand behind the last sign of a sentence."""

_OPENS: Final = re.compile(rf"(?:[:?…]|\.\.\.){CLOSING}")


@dataclass(frozen=True)
class Composed:
    """How it is said, the ids of the other lines that its words are from, and where the first of its words stand."""

    text: str
    cited_with: tuple[str, ...]
    start: int


@dataclass(frozen=True)
class Line:
    """A sentence as it is printed, without the mark of an item."""

    id: str
    start: int
    text: str
    is_heading: bool = False

    @property
    def opening(self) -> str:
        """As it is said before what it introduces."""
        text = self.text.removesuffix(":") if self.text.endswith("::") else self.text
        return text if _OPENS.search(text) else f"{text}:"


class Compositions:
    """Statements that are made of several lines of one document, and the lines that are told in them."""

    def __init__(self, notebook: Notebook, stems: WordStemmer) -> None:
        self._asked = frozenset(stems.content_stems(notebook.question))
        self._stems = stems
        self._composed: dict[str, Composed] = {}
        self._told: set[str] = set()

    def said(self, sentence: Sentence) -> Composed | None:
        return self._composed.get(sentence.id)

    def is_told(self, sentence: Sentence) -> bool:
        """Whether it is said as a part of another, and tells nothing without it."""
        return sentence.id in self._told

    def is_asked_for(self, above: Line) -> bool:
        """Whether it is a heading with a word of the question, which introduces what stands below it."""
        return above.is_heading and not self._asked.isdisjoint(self._stems.content_stems(above.text))


def line(page: Document, sentence: Sentence) -> Line:
    return Line(
        sentence.id, sentence.start, strip_markup(page.text[sentence.start : sentence.end]), sentence.is_heading
    )


def sentences_of(notebook: Notebook, document: int) -> Iterator[Sentence]:
    return (each for passage in notebook.passages if passage.document == document for each in passage.sentences)
