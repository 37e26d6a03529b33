"""What a number is given in: percent for a share, years for an age, bridges for how many bridges."""

import re
from functools import lru_cache
from typing import Final

from marchwarden.text.words import STOP_WORDS

NUMBER: Final = (
    r"(?:\d+(?:[.,]\d+)*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty"
    r"|sixty|(?:hundred|thousand|million|billion|dozen)s?|half|once|twice|single|double|none|no|never|always)\b)"
)

_LENGTHS: Final = r"\d ?(?:km|m|cm|mm|nm|ft|mi)\b|\b(?:\w*met(?:re|er)|mile|yard|inche?)s?\b|\bfeet\b"
_TIMES: Final = r"\b(?:second|minute|hour|day|week|month|year|decade)s?\b|\bcentur(?:y|ies)\b|\b(?:since|until)\b"
_MEASURES: Final = (
    (r"\bpercent|\bproportion\b|\bshare\b|\bfraction\b|\brate\b|\bprevalence\b", r"%|\bper ?cent|\d (?:in|of|out of) "),
    (r"\bcosts?\b|\bprice|\bworth\b|\bbudget\b|\brevenue\b|\bmoney\b", r"[$£€¥]|\b(?:dollar|pound|euro|franc|yen)s?\b"),
    (r"\bhow old\b|\bage\b", r"\b(?:year|month)s?\b|\baged?\b"),
    (r"\bhow (?:tall|high|deep|wide|far)\b|\b(?:height|width|depth|distance|elevation)\b", _LENGTHS),
    (r"\bhow long (?:is|was|are|were)\b|\blength\b", rf"{_LENGTHS}|{_TIMES}|\blong\b|\blength\b"),
    (r"\bhow long\b", _TIMES),
    (r"\bhow often\b", rf"\b(?:times?|every|each|per|once|twice|daily|weekly|monthly|annual(?:ly)?)\b|{_TIMES}"),
)
_KINDS: Final = tuple((re.compile(asked), re.compile(given_in)) for asked, given_in in _MEASURES)
_COUNTED: Final = re.compile(r"\b(?:how many|number of|amount of) ((?:\w+ ){0,3}?\w+)")


def in_measure(asked: str, said: str) -> bool:
    """Whether numbers of a text stand for what is asked, both in small letters. True where nothing tells it."""
    wanted = _wanted(asked)
    return wanted is None or wanted.search(said) is not None


@lru_cache(maxsize=64)
def _wanted(asked: str) -> re.Pattern[str] | None:
    """What a text must hold; the same for all texts held against one question."""
    counted = _COUNTED.search(asked)
    things = [word.removesuffix("s") for word in counted[1].split() if word not in STOP_WORDS] if counted else []
    if things:
        return re.compile(rf"{NUMBER}(?: [\w-]+){{0,3}}?[ -](?:{'|'.join(things)})")
    return next((given_in for sign, given_in in _KINDS if sign.search(asked)), None)
