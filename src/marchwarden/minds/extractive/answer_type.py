"""Whether a sentence holds the kind of thing a question asks for, beyond what the question itself says."""

import re
from collections.abc import Mapping
from typing import Final

from marchwarden.minds.extractive.definitions import defines
from marchwarden.minds.extractive.question import Expected, Question
from marchwarden.minds.extractive.units import NUMBER, in_measure
from marchwarden.text.words import CAPITALIZED, folded

NOT_ASKED: Final = 0.5
OF_SOMETHING_ELSE: Final = 0.5
"""What a number is worth that is not given in what is asked for."""

_DATE: Final = re.compile(
    r"\b(?:1\d{3}|20\d{2})s?\b|\b\d{1,2}(?:st|nd|rd|th) centur|\b(?:january|february|march|april|may|june|july|august"
    r"|september|october|november|december)\b|\b\d{1,2}:\d{2}\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
    r"|\b(?:in|by|since|until) \d{3}\b|\bbc\b"
)
_NUMBER: Final = re.compile(NUMBER)
_REASON: Final = re.compile(
    r"\b(?:because|since|due to|so that|as a result|in order to|owing to|caused by|cause[sd]?|reason|thus|therefore"
    r"|leads? to|led to|results? (?:in|from)|prevents?|allow(?:s|ed)?|for fear|to \w+)\b"
)
_WAY: Final = re.compile(r"`[^`]+`|^to \w+|\b(?:use|using|by \w+ing|you (?:can|may|must|need|should))\b")
_PLACE: Final = re.compile(r"\b(?:in|at|near|from|to|of|on|across|outside|between)\s+(?:the\s+)?[A-ZÀ-ÖØ-Þ][\w'’-]+")

_PERSON: Final = re.compile(rf"(?!\w*_){CAPITALIZED.pattern}")
"""A name, be it an office's in capitals; no `TRACE_ID`."""

_BY_WORDS: Final[Mapping[Expected, re.Pattern[str]]] = {Expected.REASON: _REASON, Expected.WAY: _WAY}
_BY_CAPITALS: Final[Mapping[Expected, re.Pattern[str]]] = {Expected.PERSON: _PERSON, Expected.PLACE: _PLACE}


def fit(question: Question, sentence: str) -> float:
    """1 when the wanted kind of thing is there, 0 when it is not, in between when nothing particular is wanted."""
    expected, asked, said = question.expected, folded(question.text), folded(sentence)
    if expected in _BY_CAPITALS:
        return float(_says_more(_BY_CAPITALS[expected], asked, sentence))
    if expected is Expected.DATE:
        return float(_says_more(_DATE, asked, said))
    if expected is Expected.NUMBER:
        worth = 1.0 if in_measure(asked, said) else OF_SOMETHING_ELSE
        return worth if _says_more(_NUMBER, asked, said) else 0.0
    if expected in _BY_WORDS:
        return float(_BY_WORDS[expected].search(said) is not None)
    if expected is Expected.DEFINITION:
        return defines(asked, said)
    return NOT_ASKED


def _says_more(pattern: re.Pattern[str], known: str, sentence: str) -> bool:
    return any(folded(match[0]) not in known for match in pattern.finditer(sentence))
