"""Remove characters that could affect a terminal, a reader or a parser: control, bidirectional and tag characters.

All other characters stay unchanged: no Unicode normalisation, no replaced quotation marks. Also formats counts.
"""

import json
import re
from typing import Final

_NEWLINE: Final = re.compile(r"\r\n?")
# Control characters that str.split() treats as white space become a space, so that words stay separate.
_ODD_SPACE: Final = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
_DANGEROUS: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"  # the rest of C0 and C1, DEL
    "\u202a-\u202e\u2066-\u2069"  # bidirectional embeddings, overrides and isolates; plain direction marks are harmless
    "\U000e0000-\U000e007f]+"  # tag characters: invisible text
)
# JSON already escapes C0 characters, and line breaks between values belong to its formatting.
_DANGEROUS_IN_JSON: Final = re.compile(f"{_ODD_SPACE.pattern}|{_DANGEROUS.pattern}|[\ud800-\udfff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

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


def one_line(text: str, max_length: int = 300) -> str:
    """Like `printable`, on one line and truncated: for titles, names and reasons."""
    line = " ".join(printable(text).split())
    return line if len(line) <= max_length else f"{line[: max_length - 1].rstrip()}…"


def json_text(value: object, indent: int | None = None) -> str:
    """Serialize to JSON with dangerous characters escaped: the same value for a program, harmless on a terminal."""
    return _DANGEROUS_IN_JSON.sub(_escape, json.dumps(value, ensure_ascii=False, indent=indent))


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


def pluralize(number: int, one: str, many: str = "") -> str:
    """Format a number with its noun: `1 source`, `2 sources`, `1,200 queries`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
