"""Parse a question: its stems, names and numbers, and the kind of answer it expects."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import pairwise
from typing import Final

from marchwarden.text.languages import DEFAULT, Language, load
from marchwarden.text.languages.asking import asked_kind, asking_phrases
from marchwarden.text.scripts import UPPER
from marchwarden.text.words import WordStemmer, beginning_of, is_beginning, words

# Words that tell the kind of answer. Answering sentences rarely repeat them.
_ASKING: Final = """
    answer call called came city come compare country date day describe detail difference example explain far find first
    amount happen happened happens kind known last list located long made make makes many mean means month much name
    named names number often old part people person place role say says similar sort state take takes term thing time
    type use used way word work year
"""
_FILLER: Final = frozenset(_ASKING.split())
NAME: Final = re.compile(rf"[{UPPER}][\w'’.&-]*(?:\s+(?:(?:of|the|de|van|von)\s+)*[{UPPER}0-9][\w'’.&-]*)*")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*\w*")


class AnswerType(Enum):
    """The kind of answer a question expects.

    `VERDICT` is yes or no with its reason, `METHOD` is how to do something.
    """

    PERSON = auto()
    DATE = auto()
    NUMBER = auto()
    PLACE = auto()
    REASON = auto()
    DEFINITION = auto()
    VERDICT = auto()
    METHOD = auto()
    ANYTHING = auto()


_QUANTITIES: Final = "number percent percentage amount population age height length size cost price rate share"
_DATES: Final = "year date day month decade century centuries"
_PERSONS: Final = """
    person people man men woman women actor actress actresses author artist singer president king queen player
"""
_PLACES: Final = "country countries city cities state place town region continent county counties river location"


def _which(kinds: str) -> str:
    """Return a pattern for `which year`, `what is the average age` and similar, singular or plural."""
    alternatives = "|".join(kinds.split())
    return rf"\b(?:what|which) (?:(?:is|are|was|were) (?:the )?)?(?:\w+ )?(?:{alternatives})s?\b"


_VERB: Final = r"(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|may|might|must)"
_SIGNS: Final[tuple[tuple[AnswerType, str], ...]] = (
    (AnswerType.DATE, r"\bwhen\b(?! (?:a|an|the|you|i|we|it|someone)\b)(?!.*\b(?:what|which|who|how)\b)"),
    (AnswerType.DATE, r"\bwhen (?:was|were|is|did|does|do|will)\b"),
    (AnswerType.DATE, _which(_DATES)),
    (AnswerType.NUMBER, r"\bhow (?:many|much|old|long|tall|far|high|large|big|fast|often|deep|wide|heavy|hot|cold)\b"),
    (AnswerType.NUMBER, _which(_QUANTITIES)),
    (AnswerType.METHOD, r"\bhow (?:do|can|could|should|would|must) (?:i|you|we|one)\b|\bhow to\b"),
    (AnswerType.REASON, r"\bwhy\b|\bwhat (?:is|was|are|were) the (?:reason|cause)|\bwhat (?:cause|led|made)"),
    (AnswerType.PERSON, r"\bwho(?:m|se)?\b"),
    (AnswerType.PERSON, _which(_PERSONS)),
    (AnswerType.PLACE, r"\bwhere\b"),
    (AnswerType.PLACE, _which(_PLACES)),
    (AnswerType.DEFINITION, r"\bwhat do(?:es)? .{1,60} (?:mean|stand for)\b|\bdefin(?:e|ition)\b|\bmeaning of\b"),
    (AnswerType.VERDICT, rf"(?:^|[:.;] ){_VERB} (?!.*\b(?:what|which|who|where|how|or)\b)"),
    (AnswerType.DEFINITION, r"^\W*what (?:is|are|was|were) (?:a |an |the )?[\w'’ -]{2,40}\W*$"),
)
_PATTERNS: Final = tuple((kind, re.compile(sign, re.IGNORECASE)) for kind, sign in _SIGNS)


@dataclass(frozen=True)
class ParsedQuestion:
    """A parsed question.

    `key` holds the stems of names and numbers, `light` those that only tell the kind of answer.
    """

    text: str
    stems: tuple[str, ...]
    key: frozenset[str]
    light: frozenset[str]
    pairs: tuple[tuple[str, str], ...]
    expected: AnswerType
    stems_per_word: float = 1.0
    language: Language = field(default_factory=lambda: load(DEFAULT))


def parse_question(text: str, stems: WordStemmer) -> ParsedQuestion:
    ordered = stems.content_stems(text) or stems.all_stems(text)
    stem_set = frozenset(ordered)
    key = _key_stems(text, stems) & stem_set
    light = _light_stems(text, stems) - key
    return ParsedQuestion(
        text=text,
        stems=tuple(dict.fromkeys(ordered)),
        key=key,
        light=light if light != stem_set else frozenset(),
        pairs=tuple(dict.fromkeys(pairwise(ordered))),
        expected=_expected_answer(text, stems.language),
        stems_per_word=stems.stems_per_word,
        language=stems.language,
    )


def _key_stems(text: str, stems: WordStemmer) -> frozenset[str]:
    """Return the stems of names and numbers. Outside English, names are inflected: only their beginnings count."""
    phrases = [stems.content_stems(phrase) for phrase in key_phrases(text)]
    found = {stem for phrase in phrases for stem in phrase}
    if stems.language.capitalizes_nouns:
        # Only several capitalized words are certainly a name.
        found = {
            stem
            for phrase in phrases
            if phrase and (phrase[0][0].isdigit() or _is_long_name(phrase))
            for stem in phrase
        }
    return frozenset(stem for stem in found if beginning_of(stem) not in found)


def _is_long_name(stems: Sequence[str]) -> bool:
    return sum(not is_beginning(stem) for stem in stems) > 1


def _light_stems(text: str, stems: WordStemmer) -> frozenset[str]:
    """Return the stems of words that only tell the kind of answer."""
    if stems.language.is_english:
        return frozenset(stem for word in words(text) if word in _FILLER for stem in stems.content_stems(word))
    asking_words = " ".join((*asking_phrases(stems.language), *sorted(stems.language.fillers)))
    asking = frozenset(stems.content_stems(asking_words))
    return asking.intersection(stems.content_stems(text))


def _expected_answer(text: str, language: Language) -> AnswerType:
    if language.is_english:
        return next((kind for kind, pattern in _PATTERNS if pattern.search(text)), AnswerType.ANYTHING)
    kind = asked_kind(text, language)
    return AnswerType[kind.upper()] if kind else AnswerType.ANYTHING


def key_phrases(text: str) -> list[str]:
    """Return names and numbers as written."""
    return [*names_in(text), *_NUMBER.findall(text)]


def names_in(text: str) -> list[str]:
    """Return runs of capitalised words. A single capitalised word at the start of the text is no name."""
    return [match[0] for match in NAME.finditer(text) if match.start() > 0 or " " in match[0] or match[0].isupper()]
