"""Statements composed of several lines, and the lines to cite for them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from marchwarden.core.notebook import Document, Notebook
from marchwarden.core.passages import Sentence
from marchwarden.text.markdown import strip_markup
from marchwarden.text.punctuation import CLOSING
from marchwarden.text.words import WordStemmer

AT_END: Final = f"[{CLOSING}]*$"

_OPENS: Final = re.compile(rf"(?:[:?…：？]|\.\.\.){AT_END}")


@dataclass(frozen=True)
class Composition:
    """Text of a composed statement, ids of the other lines it quotes and start of its first line."""

    text: str
    cited_with: tuple[str, ...]
    start: int


@dataclass(frozen=True)
class Line:
    """A sentence as printed, without its list marker."""

    id: str
    start: int
    text: str
    is_heading: bool = False

    @property
    def opening(self) -> str:
        """The text that introduces a list or code block, ending in a colon or similar."""
        text = self.text.removesuffix(":") if self.text.endswith("::") else self.text
        return text if _OPENS.search(text) else f"{text}:"


class ComposedStatements:
    """Composed statements of one document, and the lines they include."""

    def __init__(self, notebook: Notebook, stems: WordStemmer) -> None:
        self._question_stems = frozenset(stems.content_stems(notebook.question))
        self._stems = stems
        self._composed: dict[str, Composition] = {}
        self._included: set[str] = set()

    def composition_for(self, sentence: Sentence) -> Composition | None:
        return self._composed.get(sentence.id)

    def is_included(self, sentence: Sentence) -> bool:
        """Whether the line is part of a composed statement and has no meaning without it."""
        return sentence.id in self._included

    def is_asked_for(self, above: Line) -> bool:
        """Whether it is a heading with a word of the question, so that it introduces the lines below."""
        return above.is_heading and not self._question_stems.isdisjoint(self._stems.content_stems(above.text))


def line(page: Document, sentence: Sentence) -> Line:
    return Line(
        sentence.id, sentence.start, strip_markup(page.text[sentence.start : sentence.end]), sentence.is_heading
    )


def sentences_of(notebook: Notebook, document: int) -> Iterator[Sentence]:
    return (each for passage in notebook.passages if passage.document == document for each in passage.sentences)
