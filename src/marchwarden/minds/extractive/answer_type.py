"""Check whether a sentence contains the kind of answer a question asks for: a date, a number, a definition."""

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import Final

from marchwarden.minds.extractive.answer_in_language import NOT_ASKED, match_in_language
from marchwarden.minds.extractive.question import AnswerType, ParsedQuestion
from marchwarden.text.scripts import UPPER
from marchwarden.text.words import CAPITALIZED, STOP_WORDS, folded, words

NUMBER: Final = (
    r"(?:\d+(?:[.,]\d+)*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty"
    r"|sixty|(?:hundred|thousand|million|billion|dozen)s?|half|once|twice|single|double|none|no|never|always)\b)"
)
_LENGTHS: Final = r"\d ?(?:km|m|cm|mm|nm|ft|mi)\b|\b(?:\w*met(?:re|er)|mile|yard|inche?)s?\b|\bfeet\b"
_TIMES: Final = r"\b(?:second|minute|hour|day|week|month|year|decade)s?\b|\bcentur(?:y|ies)\b|\b(?:since|until)\b"
_UNITS: Final = (
    (r"\bpercent|\bproportion\b|\bshare\b|\bfraction\b|\brate\b|\bprevalence\b", r"%|\bper ?cent|\d (?:in|of|out of) "),
    (r"\bcosts?\b|\bprice|\bworth\b|\bbudget\b|\brevenue\b|\bmoney\b", r"[$£€¥]|\b(?:dollar|pound|euro|franc|yen)s?\b"),
    (r"\bhow old\b|\bage\b", r"\b(?:year|month)s?\b|\baged?\b"),
    (r"\bhow (?:tall|high|deep|wide|far)\b|\b(?:height|width|depth|distance|elevation)\b", _LENGTHS),
    (r"\bhow long (?:is|was|are|were)\b|\blength\b", rf"{_LENGTHS}|{_TIMES}|\blong\b|\blength\b"),
    (r"\bhow long\b", _TIMES),
    (r"\bhow often\b", rf"\b(?:times?|every|each|per|once|twice|daily|weekly|monthly|annual(?:ly)?)\b|{_TIMES}"),
)
_UNIT_PATTERNS: Final = tuple((re.compile(question_text), re.compile(unit)) for question_text, unit in _UNITS)
_COUNTED: Final = re.compile(r"\b(?:how many|number of|amount of) ((?:\w+ ){0,3}?\w+)")

FIRST_WORDS: Final = 5
_DEFINING_VERB: Final = (
    r"(?:is|are|was|were|means?|refers? to|describes?|denotes?|stands for|defined as|consists? of|called)"
)
_PARENTHESIS: Final = r"(?: ?[(\[][^)\]]*[)\]])?,?"
_HAS_DEFINING_VERB: Final = re.compile(rf"\b{_DEFINING_VERB}\b")
_DEFINITION_QUESTION: Final = re.compile(
    r"^\W*(?:what (?:is|are|was|were|does|do)|define) (?:the (?:meaning|definition) of )?(?:an? |the )?"
    r"(?:(?:acronym|abbreviation|term|word|phrase) )?"
    r"(.+?)(?: mean| stand for)?\W*$"
)

OTHER_UNIT: Final = 0.5
"""Score of a number that does not have the unit asked for."""
_DATE: Final = re.compile(
    r"\b(?:1\d{3}|20\d{2})s?\b|\b\d{1,2}(?:st|nd|rd|th) centur|\b(?:january|february|march|april|may|june|july|august"
    r"|september|october|november|december)\b|\b\d{1,2}:\d{2}\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
    r"|\b(?:in|by|since|until) \d{3}\b|\bbc\b"
)
_ANY_NUMBER: Final = re.compile(NUMBER)
_REASON: Final = re.compile(
    r"\b(?:because|since|due to|so that|as a result|in order to|owing to|caused by|cause[sd]?|reason|thus|therefore"
    r"|leads? to|led to|results? (?:in|from)|prevents?|allow(?:s|ed)?|for fear|to \w+)\b"
)
_METHOD: Final = re.compile(r"`[^`]+`|^to \w+|\b(?:use|using|by \w+ing|you (?:can|may|must|need|should))\b")
_PLACE: Final = re.compile(rf"\b(?:in|at|near|from|to|of|on|across|outside|between)\s+(?:the\s+)?[{UPPER}][\w'’-]+")
_PERSON: Final = re.compile(rf"(?!\w*_){CAPITALIZED.pattern}")
"""A name, including an organisation in capitals, but not an identifier such as `TRACE_ID`."""
_BY_WORDS: Final[Mapping[AnswerType, re.Pattern[str]]] = {AnswerType.REASON: _REASON, AnswerType.METHOD: _METHOD}
_BY_CAPITALS: Final[Mapping[AnswerType, re.Pattern[str]]] = {AnswerType.PERSON: _PERSON, AnswerType.PLACE: _PLACE}


def has_expected_unit(question_text: str, sentence_text: str) -> bool:
    """Whether the sentence contains the unit asked for, or the question names none. Expects lower case."""
    wanted = _unit_pattern(question_text)
    return wanted is None or wanted.search(sentence_text) is not None


@lru_cache(maxsize=64)
def _unit_pattern(question_text: str) -> re.Pattern[str] | None:
    """Return the pattern of the expected unit. Cached because all sentences are compared with one question."""
    counted = _COUNTED.search(question_text)
    nouns = [word.removesuffix("s") for word in counted[1].split() if word not in STOP_WORDS] if counted else []
    if nouns:
        return re.compile(rf"{NUMBER}(?: [\w-]+){{0,3}}?[ -](?:{'|'.join(nouns)})")
    return next((unit for sign, unit in _UNIT_PATTERNS if sign.search(question_text)), None)


def definition_score(question_text: str, sentence_text: str) -> float:
    """Return 1 for a definition of the term asked for and up to 0.5 for similar sentences. Expects lower case."""
    definition = _definition_pattern(question_text)
    if definition is not None and definition.search(sentence_text):
        return 1.0
    starts_with_term = not (frozenset(words(question_text)) - STOP_WORDS).isdisjoint(
        islice(words(sentence_text), FIRST_WORDS)
    )
    return (starts_with_term + (_HAS_DEFINING_VERB.search(sentence_text) is not None)) / 4


@lru_cache(maxsize=64)
def _definition_pattern(question_text: str) -> re.Pattern[str] | None:
    """Return the pattern of a definition of the term. Cached because all sentences are compared with one question."""
    question = _DEFINITION_QUESTION.match(question_text)
    if question is None:
        return None
    term = r"\W+".join(re.findall(r"\w+", question[1])) + "s?"
    introduced = rf"^(?:[-*] )?(?:an? |the )?\*\*{term}\*\*"
    return re.compile(rf"\b{term}\b{_PARENTHESIS} {_DEFINING_VERB}\b|\w \({term}\)|\b{term} \([a-z]|{introduced}")


def match_answer_type(question: ParsedQuestion, sentence: str) -> float:
    """Return 1 if the expected kind of answer is present, 0 if not, or `NOT_ASKED` if the question expects none."""
    if question.language.is_english:
        return _match_in_english(question, sentence)
    return match_in_language(question, sentence)


def _match_in_english(question: ParsedQuestion, sentence: str) -> float:
    expected, question_text, sentence_text = question.expected, folded(question.text), folded(sentence)
    if expected in _BY_CAPITALS:
        return float(_adds_new(_BY_CAPITALS[expected], question_text, sentence))
    if expected is AnswerType.DATE:
        return float(_adds_new(_DATE, question_text, sentence_text))
    if expected is AnswerType.NUMBER:
        worth = 1.0 if has_expected_unit(question_text, sentence_text) else OTHER_UNIT
        return worth if _adds_new(_ANY_NUMBER, question_text, sentence_text) else 0.0
    if expected in _BY_WORDS:
        return float(_BY_WORDS[expected].search(sentence_text) is not None)
    if expected is AnswerType.DEFINITION:
        return definition_score(question_text, sentence_text)
    return NOT_ASKED


def _adds_new(pattern: re.Pattern[str], known: str, sentence: str) -> bool:
    return any(folded(match[0]) not in known for match in pattern.finditer(sentence))
