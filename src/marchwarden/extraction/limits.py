"""Limits of the texts that are read. A longer document is refused, because a truncated one would look complete."""

import re
from itertools import islice
from typing import Final

from marchwarden.extraction.document import Unreadable

MAX_LENGTH: Final = 10_000_000
MAX_BYTES: Final = 20_000_000
"""In memory, where one emoji makes each character of a text take four bytes."""
MAX_LINES: Final = 200_000
"""Also of sentences: each becomes an object."""

_SENTENCE_END: Final = re.compile(r"[.!?][ \t]|[。！？।॥]")
_LARGEST_OF_ONE_BYTE: Final = "\xff"
_LARGEST_OF_TWO_BYTES: Final = "\uffff"


def check_length(length: int) -> None:
    """Raise `Unreadable` if a text of this length is too long."""
    if length > MAX_LENGTH:
        raise Unreadable(f"its text is longer than {MAX_LENGTH:,} characters")


def check_text(text: str) -> None:
    """Raise `Unreadable` if a text is too long, or has too many lines or sentences."""
    check_length(len(text))
    if len(text) * 4 > MAX_BYTES and len(text) * _width(text) > MAX_BYTES:
        raise Unreadable(f"its text is larger than {MAX_BYTES / 1_000_000:g} MB")
    if text.count("\n") > MAX_LINES or (len(text) > MAX_LINES and _has_too_many_sentences(text)):
        raise Unreadable(f"it has more than {MAX_LINES:,} lines or sentences")


def _width(text: str) -> int:
    """Return how many bytes Python uses for each character."""
    largest = max(text, default="")
    return 1 if largest <= _LARGEST_OF_ONE_BYTE else 2 if largest <= _LARGEST_OF_TWO_BYTES else 4


def _has_too_many_sentences(text: str) -> bool:
    return next(islice(_SENTENCE_END.finditer(text), MAX_LINES, None), None) is not None
