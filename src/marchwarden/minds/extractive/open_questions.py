"""Collect open questions that the documents themselves raise about the topic. Invents none and answers none."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from marchwarden.contract import OpenQuestion, Priority
from marchwarden.core.notebook import Document
from marchwarden.core.passages import Passage
from marchwarden.minds.extractive.statements import is_question
from marchwarden.minds.extractive.survey import Survey
from marchwarden.text.markdown import strip_markup
from marchwarden.text.segmentation import count_words
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
class _Candidate:
    text: str
    closeness: float
    document: Document
    start: int
    end: int


def open_questions(survey: Survey, passages: Sequence[Passage], stems: WordStemmer) -> tuple[OpenQuestion, ...]:
    """Return what the passages call unsettled or ask without an answer, the closest to the question first."""
    found = {candidate.text: candidate for passage in passages for candidate in _in_passage(survey, passage, stems)}
    order = sorted(found.values(), key=lambda each: (-round(each.closeness, 9), each.document.locator, each.start))
    return tuple(_question(candidate) for candidate in order[:MOST])


def _in_passage(survey: Survey, passage: Passage, stems: WordStemmer) -> Iterator[_Candidate]:
    notebook = survey.notebook
    document = notebook.documents[passage.document]
    for sentence in passage.sentences:
        text = strip_markup(notebook.sentence_text(passage, sentence))
        unanswered_aspects = _ASKS.match(text) and is_question(text) and sentence is passage.sentences[-1]
        if sentence.is_heading or not (unanswered_aspects or _UNSETTLED.search(text)):
            continue
        if len(text) > LONGEST or count_words(text) < FEWEST_WORDS:
            continue
        closeness = survey.question_scorer.coverage(stems.content_stems(text))
        if closeness >= RELEVANT:
            yield _Candidate(text, closeness, document, sentence.start, sentence.end)


def _question(candidate: _Candidate) -> OpenQuestion:
    close = candidate.closeness
    name = candidate.document.title or candidate.document.locator
    return OpenQuestion(
        question=candidate.text if is_question(candidate.text) else f"Has this been settled: “{candidate.text}”",
        context=f"{'Asked' if is_question(candidate.text) else 'Described as unsettled'} in {name}.",
        priority=Priority.HIGH if close >= VERY_CLOSE else Priority.MEDIUM if close >= CLOSE else Priority.LOW,
        source_locator=candidate.document.locate(candidate.start, candidate.end),
    )
