"""Whom a sentence speaks of when it says only `she`: the sentence before it that gives the name.

Below a heading that is itself a name, `httpx-sse` or `3.34 (2023-07-22)`, what does not say the name speaks of it.
"""

import re
from dataclasses import dataclass
from typing import Final

from marchwarden.core.notebook import Notebook
from marchwarden.core.passages import Sentence, is_marked
from marchwarden.minds.extractive.composed import sentences_of
from marchwarden.minds.extractive.statements import Statement
from marchwarden.text.markdown import strip_markup

FARTHEST: Final = 4

_OPENS_WITH_PRONOUN: Final = re.compile(
    r"(?:this|these|that|those|it|its|he|his|she|her|they|their|such|both)\b", re.IGNORECASE
)
_A_NAME: Final = re.compile(r"(?!\d[\d.]*\s+\w)(?=\S*[\d_.`()\"]|[a-z]+(?:-|[A-Z]))\S+(?:\s+\([^()]+\))?")
"""Not a word like any other, though it may have a hyphen: `Meet-ups`."""


@dataclass(frozen=True)
class Antecedent:
    """A sentence by its id and its printable text."""

    id: str
    text: str
    is_heading: bool = False


def leans_back(text: str) -> bool:
    """Whether it opens with a pronoun, so that somebody else must have said the name."""
    return _OPENS_WITH_PRONOUN.match(text) is not None


def spoken_of(notebook: Notebook, statement: Statement) -> tuple[Antecedent, ...]:
    """The nearest sentence before a leaning one that stands by itself, or the heading; none for what needs none."""
    at = statement.passage.document
    before = [sentence for sentence in sentences_of(notebook, at) if sentence.start < statement.start]
    page = notebook.documents[at].text
    nearest = FARTHEST if leans_back(statement.text) else 0
    for distance, sentence in enumerate(reversed(before), 1):
        if sentence.is_heading:
            return _named(page, sentence, statement)
        if distance <= nearest:
            text = strip_markup(page[sentence.start : sentence.end])
            if not leans_back(text):
                return (Antecedent(sentence.id, text),)
    return ()


def _named(page: str, heading: Sentence, statement: Statement) -> tuple[Antecedent, ...]:
    """The heading, if it is marked as one and is a name that the statement does not say."""
    text = strip_markup(page[heading.start : heading.end])
    if not is_marked(page, heading) or not _A_NAME.fullmatch(text) or text.strip("`\"'") in statement.text:
        return ()
    return (Antecedent(heading.id, f"{text}:", is_heading=True),)
