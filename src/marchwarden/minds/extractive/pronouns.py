"""Find the sentence that names the subject of a sentence starting with a pronoun.

A heading that is itself a name, such as `httpx-sse` or `3.34 (2023-07-22)`, is the subject of sentences below it.
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
"""Matches identifiers and versions, but not ordinary hyphenated words such as `Meet-ups`."""


@dataclass(frozen=True)
class Antecedent:
    """The id and printable text of a sentence."""

    id: str
    text: str
    is_heading: bool = False


def starts_with_pronoun(text: str) -> bool:
    return _OPENS_WITH_PRONOUN.match(text) is not None


def find_antecedent(notebook: Notebook, statement: Statement) -> tuple[Antecedent, ...]:
    """Return the nearest earlier sentence without a leading pronoun, or the heading, if the statement needs one."""
    at = statement.passage.document
    before = [sentence for sentence in sentences_of(notebook, at) if sentence.start < statement.start]
    page = notebook.documents[at].text
    nearest = FARTHEST if starts_with_pronoun(statement.text) else 0
    for distance, sentence in enumerate(reversed(before), 1):
        if sentence.is_heading:
            return _heading_antecedent(page, sentence, statement)
        if distance <= nearest:
            text = strip_markup(page[sentence.start : sentence.end])
            if not starts_with_pronoun(text):
                return (Antecedent(sentence.id, text),)
    return ()


def _heading_antecedent(page: str, heading: Sentence, statement: Statement) -> tuple[Antecedent, ...]:
    """Return the heading if it is a name that the statement does not contain."""
    text = strip_markup(page[heading.start : heading.end])
    if not is_marked(page, heading) or not _A_NAME.fullmatch(text) or text.strip("`\"'") in statement.text:
        return ()
    return (Antecedent(heading.id, f"{text}:", is_heading=True),)
