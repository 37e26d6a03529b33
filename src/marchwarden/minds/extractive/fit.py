"""Whether a sentence holds the kind of thing a question asks for, beyond what the question itself says."""

import re
from collections.abc import Mapping
from itertools import islice
from typing import Final

from marchwarden.minds.extractive.question import Expected, Question
from marchwarden.ranking.terms import STOP_WORDS, folded, words

NOT_ASKED: Final = 0.5
OPENING: Final = 5

_DATE: Final = re.compile(
    r"\b(?:1\d{3}|20\d{2})s?\b|\b\d{1,2}(?:st|nd|rd|th) centur|\b(?:january|february|march|april|may|june|july|august"
    r"|september|october|november|december)\b|\b\d{1,2}:\d{2}\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\bbc\b"
)
_NUMBER: Final = re.compile(
    r"\d+(?:[.,]\d+)*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty"
    r"|hundred|thousand|million|billion|dozen|half|once|twice|single|double|none|no|never|always)\b"
)
_REASON: Final = re.compile(
    r"\b(?:because|since|due to|so that|as a result|in order to|owing to|caused by|cause[sd]?|reason|thus|therefore"
    r"|leads? to|led to|results? (?:in|from)|prevents?|allow(?:s|ed)?|for fear|to \w+)\b"
)
_IS_A: Final = re.compile(
    r"\b(?:is|are|was|were|means?|refers? to|describes?|denotes?|stands for|defined as|consists? of|called)\b"
)
_NAME: Final = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-ZÀ-ÖØ-Þ][\w'’-]+")
_PLACE: Final = re.compile(r"\b(?:in|at|near|from|to|of|on|across|outside|between)\s+(?:the\s+)?[A-ZÀ-ÖØ-Þ][\w'’-]+")

_BY_CAPITALS: Final[Mapping[Expected, re.Pattern[str]]] = {Expected.PERSON: _NAME, Expected.PLACE: _PLACE}
_BY_NEWS: Final[Mapping[Expected, re.Pattern[str]]] = {Expected.DATE: _DATE, Expected.NUMBER: _NUMBER}


def fit(question: Question, sentence: str) -> float:
    """1 when the wanted kind of thing is there, 0 when it is not, in between when nothing particular is wanted."""
    expected = question.expected
    if expected in _BY_CAPITALS:
        return float(_says_more(_BY_CAPITALS[expected], question.text, sentence))
    if expected in _BY_NEWS:
        return float(_says_more(_BY_NEWS[expected], question.text, folded(sentence)))
    if expected is Expected.REASON:
        return float(_REASON.search(folded(sentence)) is not None)
    if expected is Expected.DEFINITION:
        return (_opens_with_subject(question, sentence) + (_IS_A.search(folded(sentence)) is not None)) / 2
    return NOT_ASKED


def _opens_with_subject(question: Question, sentence: str) -> bool:
    asked = frozenset(words(question.text)) - STOP_WORDS
    return not asked.isdisjoint(islice(words(sentence), OPENING))


def _says_more(pattern: re.Pattern[str], asked: str, sentence: str) -> bool:
    known = folded(asked)
    return any(folded(match[0]) not in known for match in pattern.finditer(sentence))
