"""The result of an extraction, and the error if there is none. Does not know file formats."""

from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Final

from marchwarden.core.notebook import Document, Link, Mark
from marchwarden.core.passages import Layout
from marchwarden.errors import SourceError

MAX_TEXT_LENGTH: Final = 20_000_000
"""Characters. A longer document is refused, because a truncated one would look complete."""


class Unreadable(SourceError):
    """The bytes yield no text. `detail` gives the reason in one line."""


class PageSign(StrEnum):
    """Markup that paywalls, login pages and bot challenges have. Some ordinary articles have it too."""

    PASSWORD_FIELD = "password_field"  # noqa: S105 - a kind of form field
    CHALLENGE = "challenge"
    NOT_FREE = "not_free"
    NEEDS_SCRIPT = "needs_script"


@dataclass(frozen=True)
class Extracted:
    """The clean text and metadata of a document.

    A web page also has `links`, as written in the page, and two fields that help to tell a paywall from an article:
    `surface`, the start of all its text including menus and notices, and `signs`.
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
    signs: frozenset[PageSign] = frozenset()

    def to_document(self, source: str, locator: str, content: bytes) -> Document:
        """Convert to a document of a source, without the links: they are not resolved yet."""
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
class DocumentPart:
    """A part of a document that a locator can name, such as a page or a chapter."""

    fragment: str
    text: str


def join_parts(parts: list[DocumentPart]) -> tuple[str, tuple[Mark, ...]]:
    """Join the parts to one text and mark where each begins."""
    marks: list[Mark] = []
    pieces: list[str] = []
    length = 0
    for part in parts:
        if not part.text.strip():
            continue
        marks.append(Mark(length, part.fragment))
        pieces.append(part.text.strip())
        length += len(pieces[-1]) + 2
        if length > MAX_TEXT_LENGTH:
            raise Unreadable(f"its text is longer than {MAX_TEXT_LENGTH:,} characters")
    return "\n\n".join(pieces), tuple(marks)
