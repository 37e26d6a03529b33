"""Whom a sentence speaks of when it says only `she`: the sentence before it that gives the name."""

import re
from dataclasses import dataclass
from typing import Final

from marchwarden.minds.extractive.printed import printable
from marchwarden.minds.extractive.statements import Statement
from marchwarden.notebook import Notebook

FARTHEST: Final = 4

_OPENS_WITH_PRONOUN: Final = re.compile(
    r"(?:this|these|that|those|it|its|he|his|she|her|they|their|such|both)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Antecedent:
    """A sentence by its id and its printable text."""

    id: str
    text: str


def leans_back(text: str) -> bool:
    """Whether it opens with a pronoun, so that somebody else must have said the name."""
    return _OPENS_WITH_PRONOUN.match(text) is not None


def spoken_of(notebook: Notebook, statement: Statement) -> tuple[Antecedent, ...]:
    """The nearest sentence before a leaning one that stands by itself; none for one that needs none."""
    if not leans_back(statement.text):
        return ()
    before = [
        (passage, sentence)
        for passage in notebook.passages
        if passage.document == statement.passage.document
        for sentence in passage.sentences
        if sentence.start < statement.start
    ]
    for passage, sentence in reversed(before[-FARTHEST:]):
        if sentence.is_heading:
            break
        text = printable(notebook.sentence_text(passage, sentence))
        if not leans_back(text):
            return (Antecedent(sentence.id, text),)
    return ()
