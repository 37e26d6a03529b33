"""Remove characters that could affect a terminal, a reader or a parser. Also formats counts.

`printable` cleans what is read: control, bidirectional and tag characters. `visible` cleans what is shown: in addition,
everything that has no appearance. Data (excerpts, JSON) is never passed through `visible`. All other characters stay
unchanged: no Unicode normalisation, no replaced quotation marks.
"""

import json
import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Final

_NEWLINE: Final = re.compile(r"\r\n?")
# Control characters that str.split() treats as white space become a space, so that words stay separate.
_ODD_SPACE: Final = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
_DANGEROUS: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"  # the rest of C0 and C1, DEL
    "\u202a-\u202e\u2066-\u2069"  # bidirectional embeddings, overrides and isolates; plain direction marks are harmless
    "\U000e0000-\U000e007f]+"  # tag characters: invisible text
)
# Line and paragraph separator, and the Braille pattern without dots, which looks like a space.
_LIKE_SPACE: Final = re.compile("[\u2028\u2029\u2800]")
# JSON already escapes C0 characters, and line breaks between values belong to its formatting.
_DANGEROUS_IN_JSON: Final = re.compile(
    f"{_ODD_SPACE.pattern}|{_DANGEROUS.pattern}|{_LIKE_SPACE.pattern}|[\ud800-\udfff]"
)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

# Default_Ignorable_Code_Point outside of the category Cf. `unicodedata` does not have this property.
_IGNORABLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)
# Characters of the category Cf that do have an appearance: Prepended_Concatenation_Mark, and hieroglyph controls.
_VISIBLE_FORMAT: Final = re.compile(
    "[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\U00013430-\U0001343f]"
)
# No letter, digit or white space is invisible, except the four Hangul fillers. This skips most of a text quickly.
_CANDIDATE: Final = re.compile(r"[^\w\s!-~]|[\u115f\u1160\u3164\uffa0]")
_JOINERS: Final = "\u200c\u200d"
_JOINER: Final = re.compile(f"[{_JOINERS}]")
_VIRAMA: Final = 9
"""Canonical combining class of the signs that join two consonants in Indic scripts."""

_FIRST_EMOJI_PART: Final = "\u2190"
"""Arrows, and after them all symbols that emoji consist of."""

REMOVAL_MARK: Final = "\u2029"
"""Unicode's paragraph separator. It is white space, and ends a sentence when text is split into passages."""


def printable(text: str, replacement: str = "") -> str:
    """Remove control, bidirectional and tag characters. CRLF and CR become LF, so line numbers do not change."""
    text = _NEWLINE.sub("\n", text)
    if text.isascii() and text.isprintable():
        return text
    text = _ODD_SPACE.sub(" ", text)
    text = _DANGEROUS.sub(replacement, text)
    return _SURROGATE.sub("\ufffd", text)


def mark_removals(text: str) -> str:
    """Like `printable`, but mark where characters were removed. Excerpts never span a mark, so they stay verbatim."""
    return printable(text, REMOVAL_MARK)


def visible(text: str) -> str:
    """Like `printable`, and remove everything invisible: for all text that people see.

    Invisible characters can hide text from a reader or make two names look alike. Joiners stay where a script needs
    them: in Persian and Hindi words, and in emoji.
    """
    return _replace_invisible(_LIKE_SPACE.sub(" ", printable(text)), lambda _: "")


def one_line(text: str, max_length: int = 300) -> str:
    """Like `visible`, on one line and truncated: for titles, names and reasons."""
    return _shorten(visible(text), max_length)


def quotable_line(text: str, max_length: int = 300) -> str:
    """Like `one_line`, but keep invisible characters: for text that becomes part of a document and may be quoted."""
    return _shorten(printable(text), max_length)


def json_text(value: object, indent: int | None = None) -> str:
    """Serialize to JSON that is harmless on a terminal."""
    return escape_json(json.dumps(value, ensure_ascii=False, indent=indent))


def escape_json(text: str) -> str:
    """Escape dangerous and invisible characters of a JSON text. For a program, its value stays the same."""
    return _replace_invisible(_DANGEROUS_IN_JSON.sub(lambda match: _escape(match[0]), text), _escape)


def pluralize(number: int, one: str, many: str = "") -> str:
    """Format a number with its noun: `1 source`, `2 sources`, `1,200 queries`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def _replace_invisible(text: str, replace: Callable[[str], str]) -> str:
    """Replace invisible characters, one by one."""
    if text.isascii():
        return text
    text = _CANDIDATE.sub(lambda match: replace(match[0]) if _is_invisible(match[0]) else match[0], text)
    return _JOINER.sub(lambda match: match[0] if _is_needed(match.string, match.start()) else replace(match[0]), text)


@lru_cache(maxsize=4096)
def _is_invisible(character: str) -> bool:
    """Whether a character has no appearance. Joiners are not included: it depends on their neighbours."""
    if character in _JOINERS or _VISIBLE_FORMAT.match(character):
        return False
    return unicodedata.category(character) == "Cf" or _IGNORABLE.match(character) is not None


def _is_needed(text: str, at: int) -> bool:
    """Whether the script needs the joiner at this position.

    It is needed next to the virama of an Indic script, between Arabic letters, and between the parts of an emoji.
    """
    if any(unicodedata.combining(each) == _VIRAMA for each in text[max(at - 1, 0) : at + 2]):
        return True
    before, after = _base(text, at, -1), _base(text, at, 1)
    if unicodedata.bidirectional(before) == unicodedata.bidirectional(after) == "AL":
        return True
    is_emoji = unicodedata.category(before) in {"So", "Sk"} and unicodedata.category(after) in {"So", "Sm"}
    return is_emoji and min(before, after) >= _FIRST_EMOJI_PART


def _base(text: str, at: int, step: int) -> str:
    """Return the nearest character in one direction that is not a combining mark, or a space if there is none."""
    at += step
    while 0 <= at < len(text) and unicodedata.category(text[at]).startswith("M"):
        at += step
    return text[at] if 0 <= at < len(text) else " "


def _shorten(text: str, max_length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= max_length else f"{line[: max_length - 1].rstrip()}…"


def _escape(text: str) -> str:
    return json.dumps(text)[1:-1]
