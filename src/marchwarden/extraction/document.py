"""What an extraction gives, or why it gives nothing. Knows no format."""

from dataclasses import dataclass, field
from datetime import date
from typing import Final

from marchwarden.errors import SourceError
from marchwarden.notebook import Mark
from marchwarden.passages import Layout

LONGEST_TEXT: Final = 20_000_000
"""Characters. A longer document is refused rather than cut: half a document would look like a whole one."""


class Unreadable(SourceError):
    """No text can be had from these bytes; `detail` says why in one line."""


@dataclass(frozen=True)
class Extracted:
    """The clean text of a document and what the document says about itself."""

    text: str = field(repr=False)
    title: str = ""
    author: str = ""
    published: date | None = None
    media_type: str = "text/plain"
    layout: Layout = "prose"
    lines: bool = False
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Part:
    """A stretch of a document that a locator can name: a page, a chapter."""

    fragment: str
    text: str


def joined(parts: list[Part]) -> tuple[str, tuple[Mark, ...]]:
    """The parts as one text, and where each begins in it."""
    marks: list[Mark] = []
    pieces: list[str] = []
    length = 0
    for part in parts:
        if not part.text.strip():
            continue
        marks.append(Mark(length, part.fragment))
        pieces.append(part.text.strip())
        length += len(pieces[-1]) + 2
        if length > LONGEST_TEXT:
            raise Unreadable(f"its text is longer than {LONGEST_TEXT:,} characters")
    return "\n\n".join(pieces), tuple(marks)
