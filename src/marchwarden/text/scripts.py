"""Scripts of characters, and folding of text so that different spellings of a word compare equal.

Folding is the same for every text: queries, questions and documents. It keeps what distinguishes words in a script,
such as the vowel signs of Hindi or the `й` of Russian, and removes what writers leave out, such as the vowel points of
Arabic.
"""

import re
import unicodedata
from bisect import bisect_right
from functools import cache, lru_cache
from typing import Final

_SCRIPTS: Final = (
    (0x0041, 0x024F, "Latin"),
    (0x0370, 0x03FF, "Greek"),
    (0x0400, 0x052F, "Cyrillic"),
    (0x0531, 0x058F, "Armenian"),
    (0x0590, 0x05FF, "Hebrew"),
    (0x0600, 0x08FF, "Arabic"),
    (0x0900, 0x097F, "Devanagari"),
    (0x0E00, 0x0E7F, "Thai"),
    (0x0E80, 0x0EFF, "Lao"),
    (0x0F00, 0x0FFF, "Tibetan"),
    (0x1000, 0x109F, "Myanmar"),
    (0x1100, 0x11FF, "Hangul"),
    (0x1780, 0x17FF, "Khmer"),
    (0x1E00, 0x1EFF, "Latin"),
    (0x1F00, 0x1FFF, "Greek"),
    (0x2E80, 0x2FDF, "Han"),
    (0x3005, 0x3007, "Han"),
    (0x3040, 0x30FF, "Kana"),
    (0x3130, 0x318F, "Hangul"),
    (0x31F0, 0x31FF, "Kana"),
    (0x3400, 0x9FFF, "Han"),
    (0xAC00, 0xD7AF, "Hangul"),
    (0xF900, 0xFAFF, "Han"),
    (0xFF66, 0xFF9D, "Kana"),
    (0x20000, 0x323AF, "Han"),
)
_STARTS: Final = [start for start, _, _ in _SCRIPTS]

EAST_ASIAN: Final = (
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U000323af"
)
"""Han and kana: written without spaces, one or two characters a word."""
SOUTH_EAST_ASIAN: Final = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Tibetan, Burmese and Khmer: written without spaces, several characters a word."""
HANGUL: Final = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"

_CASED: Final = (*range(0xB5, 0x590), *range(0x10A0, 0x1100), *range(0x1E00, 0x2000))
UPPER: Final = "A-Z" + "".join(chr(each) for each in _CASED if chr(each).isupper() or chr(each).istitle())
"""The upper-case letters of all common scripts, for a character class."""
LOWER: Final = "a-z" + "".join(chr(each) for each in _CASED if chr(each).islower())

# Letters that people replace by each other and that have no decomposition.
_LETTERS: Final = (
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "ŋ": "n", "æ": "ae", "œ": "oe", "þ": "th"}
    | {"ς": "σ", "ё": "е", "ѐ": "е", "ѝ": "и"}
    | {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه", "\u0640": ""}
    # In Hindi, the dot below and the kind of nasal sign are often left out.
    | {"\u093c": "", "\u0901": "\u0902"}
)
_WITHOUT_MARKS: Final = frozenset({"Latin", "Greek"})
_VOWEL_POINTS: Final = frozenset({"Hebrew", "Arabic"})
_ACCENTS: Final = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_JOINER_IN_WORD: Final = re.compile("(?<=[\u0900-\u0dff])[\u200c\u200d]+|\u00ad+")
_NASAL: Final = re.compile("[\u0919\u091e\u0923\u0928\u092e]\u094d(?=[\u0915-\u0939])")
"""In Hindi, a nasal before a consonant is a letter or a dot, as the writer likes."""
_PLAIN: Final = re.compile(r"[\x00-\x7f’‘“”–—…]*")


@lru_cache(maxsize=4096)
def script_of(character: str) -> str:
    """Return the name of the script, or nothing for other characters."""
    code = ord(character)
    at = bisect_right(_STARTS, code) - 1
    return _SCRIPTS[at][2] if at >= 0 and code <= _SCRIPTS[at][1] and character.isprintable() else ""


def normalized(text: str) -> str:
    """Convert to lower case and compatible characters, with accents. Joiners within words are removed."""
    if text.isascii():
        return text.lower()
    if _PLAIN.fullmatch(text):
        return text.casefold()
    text = unicodedata.normalize("NFKC", text.replace("İ", "i").casefold())
    return _JOINER_IN_WORD.sub("", text)


def folded(text: str) -> str:
    """Convert to lower case without accents. The number of words stays the same, the number of characters may not."""
    if text.isascii():
        return text.lower()
    return _NASAL.sub("\u0902", normalized(text)).translate(_FOLDS)


@cache
def combining_marks() -> str:
    """Return all combining marks, for a character class. The word characters of `re` do not include them."""
    return "".join(chr(each) for each in range(0x300, 0x12000) if unicodedata.category(chr(each))[0] == "M")


class _Folds(dict[int, str]):
    """Folded characters by code point, computed when first used."""

    def __missing__(self, code: int) -> str:
        self[code] = folds = _fold_character(chr(code))
        return folds


_FOLDS: Final = _Folds({ord("’"): "'"})


def _fold_character(character: str) -> str:
    if character in _LETTERS:
        return _LETTERS[character]
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.decimal(character))
    script = script_of(character)
    if category[0] == "M":
        return "" if script in _VOWEL_POINTS or _ACCENTS.match(character) else character
    if script in _WITHOUT_MARKS:
        parts = unicodedata.normalize("NFKD", character)
        return "".join(_LETTERS.get(each, each) for each in parts if not unicodedata.combining(each))
    return character
