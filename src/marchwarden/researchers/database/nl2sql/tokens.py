"""A question as a row of words, with the numbers, quotations and dates in it told apart. Knows no schema."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice
from typing import Final

from marchwarden.researchers.database.nl2sql.thesaurus import MONTHS, NUMBERS
from marchwarden.text.words import WordStemmer, folded

_TOKEN: Final = re.compile(
    r"""(?P<quoted>"[^"]{1,80}"|“[^”]{1,80}”|`[^`]{1,80}`|(?<!\w)'[^']{1,80}'(?!\w))"""
    r"""|(?P<symbol>[<>]=?|=)"""
    r"""|(?P<date>\d{4}-\d{2}-\d{2})"""
    r"""|(?P<number>\d+(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d+(?![^\W\d_]))"""
    r"""|(?P<word>[^\W_]+(?:['’][^\W_]+)*)"""
)
_EARLIEST, _LATEST = 1000, 2999
_LAST_MONTH: Final = 12
_DIGITS: Final = 18
_SCALES: Final = 3
_MOST_WORDS: Final = 100


@dataclass(frozen=True)
class Word:
    """A word, number, sign or whole quotation. `before` is what stands between it and the word before it."""

    text: str
    plain: str
    stem: str
    before: str
    quoted: bool = False
    number: float | None = None
    day: date | None = None


@dataclass(frozen=True)
class Span:
    """From the first day to the day after the last."""

    since: date
    until: date


def words_of(question: str, stems: WordStemmer) -> tuple[Word, ...]:
    """The words of a question; of one that goes on and on, the first."""
    found, end = list[Word](), 0
    for match in islice(_TOKEN.finditer(question), _MOST_WORDS):
        found.append(_word(match, question[end : match.start()], stems))
        end = match.end()
    return tuple(found)


def _word(match: re.Match[str], before: str, stems: WordStemmer) -> Word:
    text = match[0]
    match match.lastgroup:
        case "quoted":
            return Word(text[1:-1], folded(text[1:-1]), folded(text[1:-1]), before, quoted=True)
        case "number":
            return Word(text, text, text, before, number=float(text.replace(",", "")) if len(text) <= _DIGITS else None)
        case "date":
            return Word(text, text, text, before, day=_day(*map(int, text.split("-"))))
        case _:
            plain = folded(text).removesuffix("'s")
            return Word(text, plain, "".join(stems.of_everything(plain)) or plain, before, number=_in_words(plain))


def _in_words(plain: str) -> float | None:
    return float(NUMBERS[plain]) if plain in NUMBERS and plain not in {"one", "zero"} else None


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day) if year <= _LATEST else None
    except ValueError:
        return None


def number_at(words: Sequence[Word], at: int) -> tuple[float, int] | None:
    """The number that begins here and how many words it takes: `2.5 million`, `a hundred thousand`."""
    value = words[at].number
    if value is None:
        return None
    length = 1
    while (
        length < _SCALES
        and at + length < len(words)
        and (scale := NUMBERS.get(words[at + length].plain, 0)) >= NUMBERS["hundred"]
    ):
        value *= scale
        length += 1
    return value, length


def span_at(words: Sequence[Word], at: int) -> tuple[Span, int] | None:
    """The day, month or year that begins here and how many words it takes."""
    word = words[at]
    if word.day:
        return _one_day(word.day), 1
    if year := _year(word):
        return Span(date(year, 1, 1), date(year + 1, 1, 1)), 1
    ahead = list(words[at : at + 4])
    if word.plain in MONTHS and len(ahead) > 1:
        return _after_month(MONTHS[word.plain], ahead)
    if word.number and len(ahead) > 1 and ahead[1].plain in MONTHS:
        turned = [ahead[1], word, *ahead[2:]]
        return _after_month(MONTHS[ahead[1].plain], turned)
    return None


def _after_month(month: int, ahead: list[Word]) -> tuple[Span, int] | None:
    if year := _year(ahead[1]):
        return _one_month(year, month), 2
    if len(ahead) > 2 and ahead[1].number is not None and (year := _year(ahead[2])):  # noqa: PLR2004
        day = _day(year, month, int(ahead[1].number))
        return (_one_day(day), 3) if day else None
    return None


def _year(word: Word) -> int:
    whole = word.number is not None and word.text.isdigit() and len(word.text) == len(str(_LATEST))
    return int(word.text) if whole and _EARLIEST <= int(word.text) <= _LATEST else 0


def _one_day(day: date) -> Span:
    return Span(day, day + timedelta(days=1))


def _one_month(year: int, month: int) -> Span:
    return Span(date(year, month, 1), date(year + month // _LAST_MONTH, month % _LAST_MONTH + 1, 1))
