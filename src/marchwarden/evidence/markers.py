"""Citation markers: `[n]` in an answer refers to its n-th citation, counted from 1.

Markers are part of the contract. `grounding` writes them; reports, audit, evaluation and the browser page read them.
"""

import re
from typing import Final

from marchwarden.text.sanitize import printable, visible

MARKER_PATTERN: Final = r"\[\d{1,6}\]"
MARKER: Final = re.compile(r"\[(\d{1,6})\]")
"""A marker that can refer to a citation. Longer numbers are ordinary text."""
ANY_MARKER: Final = re.compile(r"\[(\d+)\]")
"""Everything a reader could mistake for a marker, however long its number."""
ESCAPED_MARKER: Final = re.compile(r"\\\[(\d{1,6})\\\]")
"""A marker in escaped Markdown."""
COMPARISON: Final = re.compile(r"(?P<what>[^\n]{1,600}): compare \[(?P<one>\d{1,6})\] with \[(?P<other>\d{1,6})\]\.")
"""The paragraph that `comparison` writes."""

_WITH_BRACKETS: Final = re.compile(f"({MARKER_PATTERN})")
_LONGEST_NUMBER: Final = 20


def marker(number: int) -> str:
    return f"[{number}]"


def comparison(what: str, one: int, other: int) -> str:
    """Return a paragraph that tells the reader to compare two citations."""
    return f"{what}: compare {marker(one)} with {marker(other)}."


def marker_numbers(text: str) -> list[int]:
    """Return the numbers of all markers in order. Overlong numbers are shortened, so that `int` accepts them."""
    return [int(number[:_LONGEST_NUMBER]) for number in ANY_MARKER.findall(text)]


def split_at_markers(text: str) -> list[str]:
    """Split the text. Every second part is a marker with its brackets."""
    return _WITH_BRACKETS.split(text)


def without_markers(text: str) -> str:
    """Return one line of printable text. `[7]` becomes `(7)`, so that it cannot be mistaken for a marker."""
    line = " ".join(printable(text).split())
    shown = visible(line)
    if ANY_MARKER.findall(shown) != ANY_MARKER.findall(line):
        # Invisible characters inside a marker hide it from the pattern, but not from a reader.
        line = shown
    return ANY_MARKER.sub(r"(\1)", line)
