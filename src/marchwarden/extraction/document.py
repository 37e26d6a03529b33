"""What an extraction gives, or why it gives nothing. Knows no format."""

from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Final

from marchwarden.core.notebook import Document, Link, Mark
from marchwarden.core.passages import Layout
from marchwarden.errors import SourceError

LONGEST_TEXT: Final = 20_000_000
"""Characters. A longer document is refused rather than cut: half a document would look like a whole one."""


class Unreadable(SourceError):
    """No text can be had from these bytes; `detail` says why in one line."""


class Sign(StrEnum):
    """Something in a web page's markup that a wall before an article has, and some articles have too."""

    PASSWORD_FIELD = "password_field"  # noqa: S105 - a kind of form field
    CHALLENGE = "challenge"
    NOT_FREE = "not_free"
    NEEDS_SCRIPT = "needs_script"


@dataclass(frozen=True)
class Extracted:
    """The clean text of a document and what the document says about itself.

    Of a web page also where it points (`links`, as the page writes them) and how all of it begins, menus and notices
    included (`surface`, `signs`): by these a wall can be told from an article.
    """

    text: str = field(repr=False)
    title: str = ""
    author: str = ""
    published: date | None = None
    media_type: str = "text/plain"
    layout: Layout = "prose"
    lines: bool = False
    marks: tuple[Mark, ...] = ()
    links: tuple[Link, ...] = ()
    surface: str = field(default="", repr=False)
    signs: frozenset[Sign] = frozenset()

    def document(self, source: str, locator: str, content: bytes) -> Document:
        """As a document of a source. Links stay behind: they are as the page writes them, not yet addresses."""
        return Document(
            source=source,
            locator=locator,
            content=content,
            text=self.text,
            title=self.title,
            media_type=self.media_type,
            layout=self.layout,
            lines=self.lines,
            marks=self.marks,
            author=self.author,
            published=self.published,
        )


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
