"""Which format some bytes really are, and the reader for it. A name is a hint; the bytes decide.

`extract` reads in this process: for bytes of unknown origin use an `Extractor`, which can kill its reader.
"""

import re
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from io import BytesIO
from pathlib import PurePosixPath
from typing import Final

from marchwarden.extraction import plain
from marchwarden.extraction.charset import decoded, has_wide_mark
from marchwarden.extraction.document import LONGEST_TEXT, Extracted, Unreadable
from marchwarden.text.sanitize import one_line


class Format(StrEnum):
    """`ARCHIVE` is a zip whose entries tell whether it is a document."""

    TEXT = "text"
    HTML = "html"
    PDF = "pdf"
    ARCHIVE = "archive"


PDF_WITHIN: Final = 1024
_SNIFFED: Final = 65_536
_ODD_SHARE: Final = 0.02
_ODD_BYTES: Final = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b"))
_HTML_OPENING: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--.{0,999}?-->\s*)*<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_HTML_NAMES: Final = frozenset({".html", ".htm", ".xhtml"})


def format_of(content: bytes, name: str) -> Format:
    """The format of the bytes; raises `Unreadable` for those that hold no text."""
    if b"%PDF-" in content[:PDF_WITHIN]:
        return Format.PDF
    if content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return Format.ARCHIVE
    if _is_binary(content[:_SNIFFED]):
        raise Unreadable("binary")
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in _HTML_NAMES or (not plain.is_known(suffix) and _HTML_OPENING.match(content[:_SNIFFED])):
        return Format.HTML
    return Format.TEXT


def extract(content: bytes, name: str) -> Extracted:
    """The clean text of a document, whatever its format."""
    match format_of(content, name):
        case Format.TEXT:
            extracted = plain.read(decoded(content), name)
        case Format.HTML:
            extracted = _html(decoded(content))
        case Format.PDF:
            extracted = _pdf(content)
        case Format.ARCHIVE:
            extracted = _archive(content)
    if len(extracted.text) > LONGEST_TEXT:
        raise Unreadable(f"its text is longer than {LONGEST_TEXT:,} characters")
    return replace(
        extracted,
        title=one_line(extracted.title) or one_line(PurePosixPath(name).stem),
        author=one_line(extracted.author),
    )


def _is_binary(head: bytes) -> bool:
    if has_wide_mark(head):
        return False
    odd = len(head) - len(head.translate(None, _ODD_BYTES))
    return b"\x00" in head or odd > len(head) * _ODD_SHARE


# The readers are imported where they are used: each costs 50 to 400 ms, which a text file need not pay.


def _html(markup: str) -> Extracted:
    from marchwarden.extraction import webpage  # noqa: PLC0415

    return webpage.read(markup)


def _pdf(content: bytes) -> Extracted:
    from marchwarden.extraction import pdf  # noqa: PLC0415

    return pdf.read(content)


def _archive(content: bytes) -> Extracted:
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            return _reader_for(archive)(archive)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, zlib.error) as error:
        raise Unreadable("a damaged zip archive") from error


def _reader_for(archive: zipfile.ZipFile) -> Callable[[zipfile.ZipFile], Extracted]:
    names = set(archive.namelist())
    if "word/document.xml" in names:
        from marchwarden.extraction import word  # noqa: PLC0415

        return word.read
    if "META-INF/container.xml" in names:
        from marchwarden.extraction import epub  # noqa: PLC0415

        return epub.read
    raise Unreadable("a zip archive")
