"""Open questions that the documents themselves raise about the question asked. Never answered, never invented."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from marchwarden.contract import OpenQuestion, Priority
from marchwarden.core.notebook import Document
from marchwarden.core.passages import Passage
from marchwarden.minds.extractive.statements import asks
from marchwarden.minds.extractive.survey import Survey
from marchwarden.text.markdown import strip_markup
from marchwarden.text.words import WordStemmer

MOST: Final = 3
LONGEST: Final = 300
FEWEST_WORDS: Final = 5
RELEVANT: Final = 0.4
CLOSE: Final = 0.6
VERY_CLOSE: Final = 0.8

_ASKS: Final = re.compile(
    r"(?:but |and |so |then )?(?:who|what|when|where|why|which|how|is|are|do|does|did|can|could|will|would|should)\b",
    re.IGNORECASE,
)
_UNSETTLED: Final = re.compile(
    r"\b(?:(?:is|are|was|were|remains?|still)\s+(?:\w+\s+)?(?:unknown|unclear|uncertain|unresolved|disputed|debated"
    r"|controversial|undecided|an open question|open questions)"
    r"|not (?:yet |fully |well )*(?:known|understood|clear|decided)|to be (?:determined|decided|confirmed)"
    r"|future (?:work|research|studies)|further (?:work|research|study|studies)"
    r"|remains to be|no consensus|subject of debate)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Wondering:
    text: str
    closeness: float
    document: Document
    start: int
    end: int


def open_questions(survey: Survey, passages: Sequence[Passage], stems: WordStemmer) -> tuple[OpenQuestion, ...]:
    """What the passages call unsettled, or ask and leave at that, the closest to the question first."""
    found = {wondering.text: wondering for passage in passages for wondering in _in_passage(survey, passage, stems)}
    order = sorted(found.values(), key=lambda each: (-round(each.closeness, 9), each.document.locator, each.start))
    return tuple(_question(wondering) for wondering in order[:MOST])


def _in_passage(survey: Survey, passage: Passage, stems: WordStemmer) -> Iterator[_Wondering]:
    notebook = survey.notebook
    document = notebook.documents[passage.document]
    for sentence in passage.sentences:
        text = strip_markup(notebook.sentence_text(passage, sentence))
        unanswered = _ASKS.match(text) and asks(text) and sentence is passage.sentences[-1]
        if sentence.is_heading or not (unanswered or _UNSETTLED.search(text)):
            continue
        if len(text) > LONGEST or len(text.split()) < FEWEST_WORDS:
            continue
        closeness = survey.whole.coverage(stems.content_stems(text))
        if closeness >= RELEVANT:
            yield _Wondering(text, closeness, document, sentence.start, sentence.end)


def _question(wondering: _Wondering) -> OpenQuestion:
    close = wondering.closeness
    name = wondering.document.title or wondering.document.locator
    return OpenQuestion(
        question=wondering.text if asks(wondering.text) else f"Can this be settled by now: “{wondering.text}”",
        context=f"{'Asked' if asks(wondering.text) else 'Said to be unsettled'} in {name}.",
        priority=Priority.HIGH if close >= VERY_CLOSE else Priority.MEDIUM if close >= CLOSE else Priority.LOW,
        source_locator=wondering.document.locate(wondering.start, wondering.end),
    )
