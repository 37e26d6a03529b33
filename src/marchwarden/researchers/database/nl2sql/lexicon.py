"""What the words of a question about data ask for, whatever the data: kept few and general. Knows no schema."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from typing import Final


class Fold(StrEnum):
    """How many values become one."""

    COUNT = "COUNT"
    SUM = "SUM"
    AVERAGE = "AVG"
    HIGHEST = "MAX"
    LOWEST = "MIN"


class Sign(StrEnum):
    """What a cue is a sign of."""

    FOLD = "fold"
    EXTREME = "extreme"
    EACH = "each"
    BY = "by"
    ORDER = "order"
    COMPARISON = "comparison"
    BETWEEN = "between"
    NOT = "not"
    WHERE = "where"
    WHEN = "when"
    MEASURE = "measure"
    PATTERN = "pattern"
    DIRECTION = "direction"
    COMMAND = "command"
    FREQUENT = "frequent"
    TOP = "top"


@dataclass(frozen=True)
class Cue:
    """Words that say what to do with the data.

    `text` is the words themselves, or the sign or pattern they stand for; `hint` the kind of measure they imply: what
    is long has a length.
    """

    sign: Sign
    text: str = ""
    fold: Fold | None = None
    descending: bool = True
    hint: str = ""


# The kinds of measure an adjective implies, and the names a column of that kind goes by, likeliest first.
MEASURES: Final[dict[str, tuple[str, ...]]] = {
    "big": ("size", "area", "population", "length", "amount", "total", "volume", "capacity"),
    "long": ("length", "duration", "milliseconds", "seconds", "minutes", "time", "distance"),
    "high": ("height", "altitude", "elevation", "level"),
    "good": ("rating", "score", "stars", "rank", "grade"),
    "dear": ("price", "cost", "amount", "total", "fee"),
    "money": ("total", "amount", "revenue", "price", "cost", "value", "sum", "balance"),
    "dense": ("density",),
    "people": ("population", "inhabitants"),
    "heavy": ("weight", "mass"),
    "fast": ("speed", "velocity"),
    "deep": ("depth",),
    "wide": ("width",),
    "late": ("date", "year", "time", "created", "at"),
    "young": ("birth", "birthdate", "birthday", "born", "age"),
    "where": ("location", "address", "street", "place", "city", "state", "province", "region", "county", "country"),
    "when": ("date", "time", "year", "at", "day"),
}

_MOST: Final = {
    "": "most|maximum",
    "big": "biggest|largest|greatest",
    "long": "longest",
    "high": "highest|tallest",
    "good": "best",
    "dear": "most expensive|most costly|priciest|costliest",
    "dense": "densest",
    "people": "most populous|most populated",
    "heavy": "heaviest",
    "fast": "fastest",
    "deep": "deepest",
    "wide": "widest",
    "late": "latest|newest|most recent|most recently",
    "young": "youngest",
}
_LEAST: Final = {
    "": "least|fewest|minimum",
    "big": "smallest|tiniest",
    "long": "shortest",
    "high": "lowest",
    "good": "worst",
    "dear": "cheapest|least expensive",
    "dense": "sparsest",
    "people": "least populous|least populated",
    "heavy": "lightest",
    "fast": "slowest",
    "deep": "shallowest",
    "wide": "narrowest",
    "late": "earliest",
    "young": "oldest",
}
_MORE: Final = "more greater higher larger bigger longer taller older later better heavier"
_LESS: Final = "less fewer lower smaller shorter younger earlier worse lighter cheaper"
_COMPARED: Final = {
    "longer": "long",
    "shorter": "long",
    "taller": "high",
    "bigger": "big",
    "larger": "big",
    "smaller": "big",
    "cheaper": "dear",
    "heavier": "heavy",
    "lighter": "heavy",
}
_FOLDS: Final = {
    Fold.COUNT: "how many|number of|numbers of|the number|count of|count|counts|quantity of",
    Fold.SUM: "total|sum|sum of|combined|overall|altogether|how much",
    Fold.AVERAGE: "average|mean|averaged",
}
_QUALITIES: Final = {
    "long": "how long",
    "high": "how high|how tall",
    "big": "how big|how large|size of",
    "dear": "how expensive|how dear",
    "dense": "how dense",
    "deep": "how deep",
    "heavy": "how heavy",
    "wide": "how wide",
    "fast": "how fast",
    "young": "how old",
}
_COMPARISONS: Final = {
    ">": "over|above|exceeding|exceeds|after|beyond|exceed",
    "<": "under|below|before",
    ">=": "at least|no less than|no fewer than|minimum of|since|on or after|from",
    "<=": "at most|no more than|up to|on or before|until|maximum of",
    "=": "equal to|equals|exactly",
}
_SIGNS: Final = {
    Sign.EACH: "each|every|per|for each|grouped by|group by|split by|broken down by|across|across different|in each",
    Sign.ORDER: "ordered by|order by|sorted by|sort by|order the results by|sort the results by|ordered|sorted|"
    "ranked by",
    Sign.BETWEEN: "between",
    Sign.NOT: "not|no|without|never|don't|doesn't|didn't|haven't|hasn't|isn't|aren't|none|excluding|not any",
    Sign.WHERE: "where",
    Sign.WHEN: "when",
    Sign.BY: "by|in terms of|according to|based on",
    Sign.COMMAND: "list|show|give|give me|return|find|display|get|tell me|show me|provide",
    Sign.TOP: "top|first|last|bottom",
}


def _superlatives() -> Iterator[tuple[str, Cue]]:
    for descending, words in ((True, _MOST), (False, _LEAST)):
        for hint, phrases in words.items():
            yield phrases, Cue(Sign.EXTREME, hint=hint, descending=descending)
    yield "most common|most frequent|most frequently|most often|most popular", Cue(Sign.FREQUENT)
    yield "least common|least popular|least frequent", Cue(Sign.FREQUENT, descending=False)
    yield "descending|highest to lowest|largest to smallest|most to least|longest to shortest", Cue(Sign.DIRECTION)
    yield "ascending|alphabetically|alphabetical|lowest to highest", Cue(Sign.DIRECTION, descending=False)


def _comparisons() -> Iterator[tuple[str, Cue]]:
    for sign, phrases in _COMPARISONS.items():
        yield f"{phrases}|{sign}", Cue(Sign.COMPARISON, text=sign)
    for sign, words in ((">", _MORE), ("<", _LESS)):
        for word in words.split():
            yield f"{word} than", Cue(Sign.COMPARISON, text=sign, hint=_COMPARED.get(word, ""))
    yield "start with|starts with|starting with|begin with|begins with", Cue(Sign.PATTERN, text="{}%")
    yield "end with|ends with|ending with|ending in", Cue(Sign.PATTERN, text="%{}")
    yield "contain the word|contains the word|containing the word", Cue(Sign.PATTERN, text="%{}%")


def _plain_signs() -> Iterator[tuple[str, Cue]]:
    for fold, phrases in _FOLDS.items():
        yield phrases, Cue(Sign.FOLD, fold=fold)
    for hint, phrases in _QUALITIES.items():
        yield phrases, Cue(Sign.MEASURE, hint=hint)
    for sign, phrases in _SIGNS.items():
        yield phrases, Cue(sign)


def _cues() -> dict[tuple[str, ...], Cue]:
    return {
        tuple(phrase.split()): cue if cue.text else replace(cue, text=phrase)
        for phrases, cue in chain(_superlatives(), _comparisons(), _plain_signs())
        for phrase in phrases.split("|")
    }


CUES: Final = _cues()
LONGEST_CUE: Final = max(map(len, CUES))
