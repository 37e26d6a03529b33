"""A question as the extractive mind understands it: the stems that carry it, and the kind of answer it wants."""

import re
from dataclasses import dataclass
from enum import Enum, auto
from itertools import pairwise
from typing import Final

from marchwarden.text.words import WordStemmer, words

# Words that say what kind of answer is wanted; the sentence that answers seldom repeats them.
_ASKING: Final = """
    answer call called came city come compare country date day describe detail difference example explain far find first
    amount happen happened happens kind known last list located long made make makes many mean means month much name
    named names number often old part people person place role say says similar sort state take takes term thing time
    type use used way word work year
"""
_FILLER: Final = frozenset(_ASKING.split())
NAME: Final = re.compile(r"[A-ZÀ-ÖØ-Þ][\w'’.&-]*(?:\s+(?:(?:of|the|de|van|von)\s+)*[A-ZÀ-ÖØ-Þ0-9][\w'’.&-]*)*")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*\w*")


class Expected(Enum):
    """What kind of thing an answer to the question would be.

    A verdict is a yes or a no, with what it rests on; a way is how somebody gets something done.
    """

    PERSON = auto()
    DATE = auto()
    NUMBER = auto()
    PLACE = auto()
    REASON = auto()
    DEFINITION = auto()
    VERDICT = auto()
    WAY = auto()
    ANYTHING = auto()


_QUANTITIES: Final = "number percent percentage amount population age height length size cost price rate share"
_DATES: Final = "year date day month decade century centuries"
_PERSONS: Final = """
    person people man men woman women actor actress actresses author artist singer president king queen player
"""
_PLACES: Final = "country countries city cities state place town region continent county counties river location"


def _which(kinds: str) -> str:
    """`which year`, `what is the average age`: one of these, or several."""
    named = "|".join(kinds.split())
    return rf"\b(?:what|which) (?:(?:is|are|was|were) (?:the )?)?(?:\w+ )?(?:{named})s?\b"


_VERB: Final = r"(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|may|might|must)"
_SIGNS: Final[tuple[tuple[Expected, str], ...]] = (
    (Expected.DATE, r"\bwhen\b(?! (?:a|an|the|you|i|we|it|someone)\b)(?!.*\b(?:what|which|who|how)\b)"),
    (Expected.DATE, r"\bwhen (?:was|were|is|did|does|do|will)\b"),
    (Expected.DATE, _which(_DATES)),
    (Expected.NUMBER, r"\bhow (?:many|much|old|long|tall|far|high|large|big|fast|often|deep|wide|heavy|hot|cold)\b"),
    (Expected.NUMBER, _which(_QUANTITIES)),
    (Expected.WAY, r"\bhow (?:do|can|could|should|would|must) (?:i|you|we|one)\b|\bhow to\b"),
    (Expected.REASON, r"\bwhy\b|\bwhat (?:is|was|are|were) the (?:reason|cause)|\bwhat (?:cause|led|made)"),
    (Expected.PERSON, r"\bwho(?:m|se)?\b"),
    (Expected.PERSON, _which(_PERSONS)),
    (Expected.PLACE, r"\bwhere\b"),
    (Expected.PLACE, _which(_PLACES)),
    (Expected.DEFINITION, r"\bwhat do(?:es)? .{1,60} (?:mean|stand for)\b|\bdefin(?:e|ition)\b|\bmeaning of\b"),
    (Expected.VERDICT, rf"(?:^|[:.;] ){_VERB} (?!.*\b(?:what|which|who|where|how|or)\b)"),
    (Expected.DEFINITION, r"^\W*what (?:is|are|was|were) (?:a |an |the )?[\w'’ -]{2,40}\W*$"),
)
_PATTERNS: Final = tuple((kind, re.compile(sign, re.IGNORECASE)) for kind, sign in _SIGNS)


@dataclass(frozen=True)
class Question:
    """`key` holds the stems of names and numbers, `light` those that only say what kind of answer is wanted."""

    text: str
    stems: tuple[str, ...]
    key: frozenset[str]
    light: frozenset[str]
    pairs: tuple[tuple[str, str], ...]
    expected: Expected


def understood(text: str, stems: WordStemmer) -> Question:
    ordered = stems.content_stems(text) or stems.all_stems(text)
    distinct = frozenset(ordered)
    key = frozenset(stem for phrase in key_phrases(text) for stem in stems.content_stems(phrase)) & distinct
    light = frozenset(stem for word in words(text) if word in _FILLER for stem in stems.content_stems(word)) - key
    return Question(
        text=text,
        stems=tuple(dict.fromkeys(ordered)),
        key=key,
        light=light if light != distinct else frozenset(),
        pairs=tuple(dict.fromkeys(pairwise(ordered))),
        expected=next((kind for kind, pattern in _PATTERNS if pattern.search(text)), Expected.ANYTHING),
    )


def key_phrases(text: str) -> list[str]:
    """Names and numbers, as written."""
    return [*names_in(text), *_NUMBER.findall(text)]


def names_in(text: str) -> list[str]:
    """Runs of capitalised words. The capital that opens a sentence makes no name."""
    return [match[0] for match in NAME.finditer(text) if match.start() > 0 or " " in match[0] or match[0].isupper()]
