"""Split a question into words and recognize numbers, quotations and dates. Does not know the schema."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice
from typing import Final

from marchwarden.researchers.database.nl2sql.thesaurus import load_thesaurus
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
_MAX_DIGITS: Final = 18
_MAX_NUMBER_WORDS: Final = 3
_MAX_WORDS: Final = 100


@dataclass(frozen=True)
class Word:
    """A word, number, operator or complete quotation. `before` is the text between it and the previous word."""

    text: str
    plain: str
    stem: str
    before: str
    quoted: bool = False
    number: float | None = None
    day: date | None = None


@dataclass(frozen=True)
class DateSpan:
    """A date range. `until` is the day after the last day."""

    since: date
    until: date


def tokenize(question: str, stems: WordStemmer) -> tuple[Word, ...]:
    """Return the words of a question, at most `_MAX_WORDS`."""
    found, end = list[Word](), 0
    for match in islice(_TOKEN.finditer(question), _MAX_WORDS):
        found.append(_word(match, question[end : match.start()], stems))
        end = match.end()
    return tuple(found)


def _word(match: re.Match[str], before: str, stems: WordStemmer) -> Word:
    text = match[0]
    match match.lastgroup:
        case "quoted":
            return Word(text[1:-1], folded(text[1:-1]), folded(text[1:-1]), before, quoted=True)
        case "number":
            number = float(text.replace(",", "")) if len(text) <= _MAX_DIGITS else None
            return Word(text, text, text, before, number=number)
        case "date":
            return Word(text, text, text, before, day=_day(*map(int, text.split("-"))))
        case _:
            plain = folded(text).removesuffix("'s")
            return Word(text, plain, "".join(stems.all_stems(plain)) or plain, before, number=_number_word(plain))


def _number_word(plain: str) -> float | None:
    numbers = load_thesaurus().numbers
    return float(numbers[plain]) if plain in numbers and plain not in {"one", "zero"} else None


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day) if year <= _LATEST else None
    except ValueError:
        return None


def parse_number_at(words: Sequence[Word], at: int) -> tuple[float, int] | None:
    """Return the number that starts at this word and its length in words: `2.5 million`, `hundred thousand`."""
    numbers, value = load_thesaurus().numbers, words[at].number
    if value is None:
        return None
    length = 1
    while (
        length < _MAX_NUMBER_WORDS
        and at + length < len(words)
        and (scale := numbers.get(words[at + length].plain, 0)) >= numbers["hundred"]
    ):
        value *= scale
        length += 1
    return value, length


def parse_date_at(words: Sequence[Word], at: int) -> tuple[DateSpan, int] | None:
    """Return the day, month or year that starts at this word and its length in words."""
    word = words[at]
    if word.day:
        return _one_day(word.day), 1
    if year := _year(word):
        return DateSpan(date(year, 1, 1), date(year + 1, 1, 1)), 1
    months, ahead = load_thesaurus().months, list(words[at : at + 4])
    if word.plain in months and len(ahead) > 1:
        return _date_after_month(months[word.plain], ahead)
    if word.number and len(ahead) > 1 and ahead[1].plain in months:
        reordered = [ahead[1], word, *ahead[2:]]
        return _date_after_month(months[ahead[1].plain], reordered)
    return None


def _date_after_month(month: int, ahead: list[Word]) -> tuple[DateSpan, int] | None:
    if year := _year(ahead[1]):
        return _one_month(year, month), 2
    if len(ahead) > 2 and ahead[1].number is not None and (year := _year(ahead[2])):  # noqa: PLR2004
        day = _day(year, month, int(ahead[1].number))
        return (_one_day(day), 3) if day else None
    return None


def _year(word: Word) -> int:
    four_digits = word.number is not None and word.text.isdigit() and len(word.text) == len(str(_LATEST))
    return int(word.text) if four_digits and _EARLIEST <= int(word.text) <= _LATEST else 0


def _one_day(day: date) -> DateSpan:
    return DateSpan(day, day + timedelta(days=1))


def _one_month(year: int, month: int) -> DateSpan:
    return DateSpan(date(year, month, 1), date(year + month // _LAST_MONTH, month % _LAST_MONTH + 1, 1))
