"""Text with nothing in it that could act: on a terminal, on a reader's eyes, on whoever parses it next.

Everything else stays as it was written; no Unicode normalisation, no prettier quotation marks.
"""

import json
import re
from typing import Final

_NEWLINE: Final = re.compile(r"\r\n?")
# What Python's str.split() takes for white space becomes a space, so that no two words grow together.
_ODD_SPACE: Final = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
_DANGEROUS: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"  # the rest of C0 and C1, DEL
    "\u202a-\u202e\u2066-\u2069"  # what turns the direction of a text; the marks that only hint at it are harmless
    "\U000e0000-\U000e007f]+"  # tag characters: text that is not shown
)
# JSON itself escapes the first of them, and a line's end between values is its own.
_DANGEROUS_IN_JSON: Final = re.compile(f"{_ODD_SPACE.pattern}|{_DANGEROUS.pattern}|[\ud800-\udfff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

TEAR: Final = "\u2029"
"""Unicode's paragraph separator: white space to everybody, and an end of sentence to us."""


def printable(text: str, in_place: str = "") -> str:
    """The text without control, bidirectional and tag characters. CRLF and CR become LF: its lines stay its lines."""
    text = _NEWLINE.sub("\n", text)
    if text.isascii() and text.isprintable():
        return text
    text = _ODD_SPACE.sub(" ", text)
    text = _DANGEROUS.sub(in_place, text)
    return _SURROGATE.sub("\ufffd", text)


def torn(text: str) -> str:
    """The same, with a tear where something was taken out: no excerpt goes across one, so each stays verbatim."""
    return printable(text, TEAR)


def one_line(text: str, longest: int = 300) -> str:
    """The same on one line, for titles, names and reasons."""
    line = " ".join(printable(text).split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def json_text(value: object, indent: int | None = None) -> str:
    """The value as JSON; whatever could act is written as an escape: the same to a program, inert on a screen."""
    return _DANGEROUS_IN_JSON.sub(_escaped, json.dumps(value, ensure_ascii=False, indent=indent))


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]
