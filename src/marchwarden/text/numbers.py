"""Parse quantities and dates in prose into comparable values. Does not know documents."""

import re
from dataclasses import dataclass
from typing import Final

from marchwarden.text.number_formats import english_numbers

_SCALES: Final = {
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
    "m": 1e6,
    "bn": 1e9,
    "k": 1e3,
    "万": 1e4,
    "萬": 1e4,
    "亿": 1e8,
    "億": 1e8,
}
_NUMBER_WORDS: Final = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty
"""
_WORD_VALUES: Final = {word: float(value) for value, word in enumerate(_NUMBER_WORDS.split())}
_MONTH_NAMES: Final = "january february march april may june july august september october november december"
MONTHS: Final = tuple(_MONTH_NAMES.split())
_QUANTITY: Final = re.compile(
    r"(?<![\w.,/#:-])(?P<sign>[-−])?(?P<money>[$€£¥])?\s?(?:(?P<digits>\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)|"
    rf"(?P<word>{'|'.join(_WORD_VALUES)})\b)(?:\s?(?P<scale>thousand|million|billion|trillion|bn|k|m|[万萬亿億])\b)?"
    r"(?:\s?(?P<percent>%|percent\b|per cent\b)|[\s-](?P<unit>[^\W\d_]+))?(?![\w%/:]|[.,]\d)",
    re.IGNORECASE,
)
_MONTH: Final = rf"(?P<month>{'|'.join(MONTHS)})"
_DATES: Final = (
    re.compile(r"(?<!\d)(?P<year>\d{4}) ?年(?: ?(?P<month>\d{1,2}) ?月)?(?: ?(?P<day>\d{1,2}) ?日)?"),
    re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH},?\s+(?P<year>\d{{4}})\b", re.IGNORECASE),
    re.compile(rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})\b", re.IGNORECASE),
    re.compile(r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b"),
    re.compile(rf"\b{_MONTH},?\s+(?P<year>\d{{4}})(?P<day>)\b", re.IGNORECASE),
    re.compile(r"(?<![\w.,$€£#/-])(?P<year>1[0-9]{3}|20[0-9]{2})(?P<month>)(?P<day>)(?![\w%/-]|[.,]\d)"),
)
EXACT_BELOW: Final = 1000.0


@dataclass(frozen=True)
class Figure:
    """A number and its unit, usually the word after it. `slack` is half a unit of the last digit written."""

    value: float
    unit: str
    slack: float

    def agrees(self, other: "Figure") -> bool:
        """Whether both can be the same number, one of them rounded."""
        return abs(self.value - other.value) <= max(self.slack, other.slack)


@dataclass(frozen=True)
class Moment:
    """A date. Month and day are 0 if unknown."""

    year: int
    month: int = 0
    day: int = 0

    def agrees(self, other: "Moment") -> bool:
        """Whether both can be the same day, one of them less precise."""
        pairs = ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        return all(not one or not two or one == two for one, two in pairs)


@dataclass(frozen=True)
class Numbers:
    """The quantities and dates of a text, and the text without them."""

    quantities: tuple[Figure, ...]
    moments: tuple[Moment, ...]
    rest: str


def parse_numbers(text: str, *, decimal_comma: bool = False) -> Numbers:
    """Parse dates first, so that their digits do not count as quantities.

    With `decimal_comma`, as in most of Europe, `1.234` is more than a thousand.
    """
    text = english_numbers(text, decimal_comma=decimal_comma)
    moments: list[Moment] = []
    for pattern in _DATES:
        moments.extend(_parse_moment(match) for match in pattern.finditer(text))
        text = pattern.sub(" ", text)
    quantities = [_parse_figure(match) for match in _QUANTITY.finditer(text)]
    rest = _QUANTITY.sub(lambda match: f" {match['unit'] or ''} ", text)
    return Numbers(tuple(quantities), tuple(moments), rest)


def _parse_moment(match: re.Match[str]) -> Moment:
    month = match["month"] or "0"
    number = int(month) if month.isdigit() else MONTHS.index(month.casefold()) + 1
    return Moment(int(match["year"]), number, int(match["day"] or 0))


def _parse_figure(match: re.Match[str]) -> Figure:
    scale = _SCALES.get((match["scale"] or "").casefold(), 1.0)
    digits = (match["digits"] or "").replace(",", "").replace(" ", "")
    value = (float(digits) if digits else _WORD_VALUES[match["word"].casefold()]) * scale
    noun = (match["unit"] or "").casefold()
    unit = match["money"] or ("%" if match["percent"] else noun)
    return Figure(-value if match["sign"] else value, unit, _slack(digits, scale, value))


def _slack(digits: str, scale: float, value: float) -> float:
    """The rounding tolerance. `1.2 million` and `1200000` may be rounded; whole numbers below 1000 are exact."""
    if "." in digits:
        return scale * 10.0 ** -len(digits.split(".")[1]) / 2
    if scale == 1 and value < EXACT_BELOW:
        return 0.0
    zeros = len(digits) - len(digits.rstrip("0")) if digits else 0
    return scale * 10.0**zeros / 2
