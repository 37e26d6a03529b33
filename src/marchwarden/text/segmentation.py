"""Split text into words. Scripts without spaces between words become overlapping n-grams.

Between function words, such as 的 in Chinese, a text in such a script consists of short pieces. N-grams do not cross
them: the pieces of a question are then the same as those of the sentence that answers it.
"""

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Final

from marchwarden.text.languages import Language, load
from marchwarden.text.scripts import EAST_ASIAN, HANGUL, SOUTH_EAST_ASIAN, combining_marks, normalized

LONGEST_WORD: Final = 60
CHARACTERS_PER_WORD: Final = 2.5
_NUMBER: Final = r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)+"
"""A comma groups thousands; any other comma separates two numbers, as in `1998,1999`."""
_COMMA_NUMBER: Final = r"\d{1,3}(?:\.\d{3})+(?!\d)(?:,\d+)?|\d+,\d+(?!\d|,)|\d+(?:\.\d+)+"
_ASCII_WORD: Final = re.compile(rf"{_NUMBER}|[^\W_]+(?:['’][^\W_]+)*")
_UNSPACED: Final = re.compile(f"[{EAST_ASIAN}{SOUTH_EAST_ASIAN}{HANGUL}]")
_UNSPACED_RUN: Final = re.compile(f"[{EAST_ASIAN}{SOUTH_EAST_ASIAN}{HANGUL}]+")


def split_words(text: str, language: Language, *, everything: bool = False, ngrams: bool = True) -> Sequence[str]:
    """Return the words of a text, in lower case, with accents.

    Without `everything`, function words of scripts without spaces are left out, because they separate the other words.
    Without `ngrams`, the pieces between them are not split further.
    """
    text = normalized(text)
    if language.is_english and text.isascii():
        return _ASCII_WORD.findall(text)
    found: list[str] = _word_pattern(language.splits_at_apostrophes, language.decimal_comma).findall(text)
    if _UNSPACED.search(text):
        return [part for word in found for part in _parts(word, everything=everything, ngrams=ngrams)]
    return found


def count_words(text: str) -> int:
    """Return the number of words, estimated from the number of characters where words are long or not separated."""
    if text.isascii():
        return len(text.split())
    unspaced = sum(len(run[0]) / CHARACTERS_PER_WORD for run in _UNSPACED_RUN.finditer(text))
    return len(_UNSPACED_RUN.sub(" ", text).split()) + math.ceil(unspaced)


@cache
def _word_pattern(splits_at_apostrophes: bool, decimal_comma: bool) -> re.Pattern[str]:  # noqa: FBT001
    letters = rf"[^\W_]+(?:[{combining_marks()}]+[^\W_]*)*"
    word = letters if splits_at_apostrophes else rf"{letters}(?:['’]{letters})*"
    return re.compile(rf"{_COMMA_NUMBER if decimal_comma else _NUMBER}|{word}")


_RUNS: Final = re.compile(
    rf"(?P<east>[{EAST_ASIAN}]+)|(?P<south>[{SOUTH_EAST_ASIAN}]+)|(?P<hangul>[{HANGUL}]+)"
    rf"|[^{EAST_ASIAN}{SOUTH_EAST_ASIAN}{HANGUL}]+"
)


def _parts(word: str, *, everything: bool, ngrams: bool) -> Iterator[str]:
    if word.isascii():
        yield word
        return
    for run in _RUNS.finditer(word):
        if run["east"]:
            yield from _pieces(run[0], 2 if ngrams else 0, _separators("zh", "ja"), everything=everything)
        elif run["south"]:
            yield from _pieces(run[0], 3 if ngrams else 0, _separators("th"), everything=everything)
        elif run["hangul"]:
            yield from _korean(run[0], 2 if ngrams else 0, everything=everything)
        else:
            yield run[0]


def _pieces(run: str, length: int, separators: re.Pattern[str], *, everything: bool) -> Iterator[str]:
    for piece in [run] if everything else separators.split(run):
        yield from _ngrams(piece, length)


def _korean(word: str, length: int, *, everything: bool) -> Iterator[str]:
    language = load("ko")
    if word in language.stop_words and not everything:
        return
    ending = next((each for each in language.suffixes if word.endswith(each) and len(word) > len(each) + 1), "")
    yield from _ngrams(word.removesuffix(ending), length)


def _ngrams(piece: str, length: int) -> Iterator[str]:
    """Yield the n-grams of a piece, or the piece if it is shorter or no length is given."""
    if piece and not length:
        yield piece
    elif piece:
        for start in range(max(len(piece) - length, 0) + 1):
            yield piece[start : start + length]


@lru_cache(maxsize=8)
def _separators(*codes: str) -> re.Pattern[str]:
    found = sorted((word for code in codes for word in load(code).stop_words), key=lambda word: (-len(word), word))
    return re.compile("|".join(map(re.escape, found)))
