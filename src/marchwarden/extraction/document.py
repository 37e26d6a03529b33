"""The result of an extraction, and the error if there is none. Does not know file formats."""

from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from marchwarden.core.blocks import Block
from marchwarden.core.notebook import Document, Link, Mark
from marchwarden.core.passages import Layout
from marchwarden.errors import SourceError


class Unreadable(SourceError):
    """The bytes yield no text. `detail` gives the reason in one line."""


class PageSign(StrEnum):
    """Markup that paywalls, login pages and bot challenges have. Some ordinary articles have it too."""

    PASSWORD_FIELD = "password_field"  # noqa: S105 - a kind of form field
    CHALLENGE = "challenge"
    NOT_FREE = "not_free"
    NEEDS_SCRIPT = "needs_script"


@dataclass(frozen=True)
class Attachment:
    """A file inside a document: attached to an email, or packed in an archive. `name` is its path inside it."""

    name: str
    content: bytes = field(repr=False)


@dataclass(frozen=True)
class Extracted:
    """The clean text and metadata of a document.

    A web page also has `links`, as written in the page, and two fields that help to tell a paywall from an article:
    `surface`, the start of all its text including menus and notices, and `signs`.

    `site` names the manual or web site that the document is part of. `attachments` are documents of their own. The text
    of an archive is empty.

    `remark` says how the text was read if a machine had to guess it. It becomes a part of the title, so that every
    citation shows it.
    """

    text: str = field(repr=False)
    title: str = ""
    author: str = ""
    published: date | None = None
    media_type: str = "text/plain"
    layout: Layout = "prose"
    lines: bool = False
    marks: tuple[Mark, ...] = ()
    blocks: tuple[Block, ...] = field(default=(), repr=False)
    links: tuple[Link, ...] = ()
    surface: str = field(default="", repr=False)
    signs: frozenset[PageSign] = frozenset()
    attachments: tuple[Attachment, ...] = ()
    site: str = ""
    remark: str = ""

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
            blocks=self.blocks,
            author=self.author,
            published=self.published,
            site=self.site,
        )
