"""Check whether a sentence contains the kind of answer a question asks for, in languages other than English.

The words come from the data of the language. Where a script has no capitals, names cannot be recognised: then a
sentence counts as if it had one, so that the confidence does not depend on the script.
"""

import re
from typing import Final

from marchwarden.minds.extractive.question import AnswerType, ParsedQuestion
from marchwarden.text.languages import Language
from marchwarden.text.languages.asking import mentions
from marchwarden.text.punctuation import UNCASED_LETTER
from marchwarden.text.scripts import UPPER, folded

NOT_ASKED: Final = 0.5
UNNAMED: Final = 0.5
"""Score of a sentence without a new name, where capitals tell names."""
_NAME: Final = re.compile(rf"(?<!^)\b[{UPPER}][\w'’-]+")
_UNCASED: Final = re.compile(UNCASED_LETTER)
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_DATE: Final = re.compile(r"(?<![\d.,])\d{3,4}(?![\d%]|[.,]\d)|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d\s*(?:年|月|日|년|월)")


def match_in_language(question: ParsedQuestion, sentence: str) -> float:
    """Return 1 if the expected kind of answer is present, 0 if not, or `NOT_ASKED` if the question expects none."""
    known, text, language = folded(question.text), folded(sentence), question.language
    match question.expected:
        case AnswerType.DATE:
            return float(_adds(_DATE, known, text) or mentions(sentence, _month_names(language), language))
        case AnswerType.NUMBER:
            return float(_adds(_NUMBER, known, text) or mentions(sentence, language.numbers, language))
        case AnswerType.PERSON | AnswerType.PLACE:
            has_name = _UNCASED.search(sentence) is not None or _adds(_NAME, known, sentence)
            return 1.0 if has_name else UNNAMED
        case AnswerType.REASON:
            return 1.0 if mentions(sentence, language.reasons, language) else NOT_ASKED
        case _:
            return NOT_ASKED


def _month_names(language: Language) -> tuple[str, ...]:
    return tuple(name for month in language.months for name in month)


def _adds(pattern: re.Pattern[str], known: str, text: str) -> bool:
    """Whether the text has a match that the question has not."""
    return any(folded(match[0]) not in known for match in pattern.finditer(text))
