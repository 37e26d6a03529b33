"""Detect the format of some bytes and read them. The bytes decide; the file name is only a hint.

`extract` parses in this process. For untrusted bytes use an `Extractor`, which can kill its parser.
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
from marchwarden.extraction.charset import decode, has_wide_bom
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.limits import check_text
from marchwarden.text.sanitize import one_line


class Format(StrEnum):
    """Formats, detected from the first bytes. `ARCHIVE` is a zip; its entries decide whether it is a document.

    `OLE` is the container of old or encrypted Office files.
    """

    TEXT = "text"
    HTML = "html"
    PDF = "pdf"
    ARCHIVE = "archive"
    OLE = "ole"
    RTF = "rtf"


PDF_WITHIN: Final = 1024
_OLE_MAGIC: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_RTF_MAGIC: Final = b"{\\rtf"
_SNIFFED: Final = 65_536
_ODD_SHARE: Final = 0.02
_ODD_BYTES: Final = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b"))
_HTML_OPENING: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--.{0,999}?-->\s*)*<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_OFFICE_FOLDERS: Final = ("word/document", "xl/workbook", "ppt/presentation")
_HTML_NAMES: Final = frozenset({".html", ".htm", ".xhtml"})


def detect_format(content: bytes, name: str) -> Format:
    """Return the format of the bytes. Raises `Unreadable` for binary data."""
    if b"%PDF-" in content[:PDF_WITHIN]:
        return Format.PDF
    if content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return Format.ARCHIVE
    if content.startswith(_OLE_MAGIC):
        return Format.OLE
    if content.startswith(_RTF_MAGIC):
        return Format.RTF
    if _is_binary(content[:_SNIFFED]):
        raise Unreadable("binary")
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in _HTML_NAMES or (not plain.is_text_suffix(suffix) and _HTML_OPENING.match(content[:_SNIFFED])):
        return Format.HTML
    return Format.TEXT


def extract(content: bytes, name: str) -> Extracted:
    """Extract the clean text of a document of any supported format."""
    match detect_format(content, name):
        case Format.TEXT:
            extracted = plain.read(decode(content), name)
        case Format.HTML:
            extracted = _read_html(decode(content))
        case Format.PDF:
            extracted = _read_pdf(content)
        case Format.ARCHIVE:
            extracted = _read_archive(content)
        case Format.OLE:
            extracted = _read_ole(content)
        case Format.RTF:
            extracted = _read_rtf(content)
    check_text(extracted.text)
    return replace(
        extracted,
        title=one_line(extracted.title) or one_line(PurePosixPath(name).stem),
        author=one_line(extracted.author),
    )


def _is_binary(head: bytes) -> bool:
    if has_wide_bom(head):
        return False
    odd = len(head) - len(head.translate(None, _ODD_BYTES))
    return b"\x00" in head or odd > len(head) * _ODD_SHARE


# The parsers are imported on demand: each import takes 50 to 400 ms, and text files do not need them.


def _read_html(markup: str) -> Extracted:
    from marchwarden.extraction import webpage  # noqa: PLC0415

    return webpage.read(markup)


def _read_pdf(content: bytes) -> Extracted:
    from marchwarden.extraction import pdf  # noqa: PLC0415

    return pdf.read(content)


def _read_ole(content: bytes) -> Extracted:
    from marchwarden.extraction import ole  # noqa: PLC0415

    return ole.read(content)


def _read_rtf(content: bytes) -> Extracted:
    from marchwarden.extraction import rtf  # noqa: PLC0415

    return rtf.read(content)


def _read_archive(content: bytes) -> Extracted:
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            return _reader_for(archive)(archive)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, zlib.error) as error:
        raise Unreadable("a damaged zip archive") from error


def _reader_for(archive: zipfile.ZipFile) -> Callable[[zipfile.ZipFile], Extracted]:
    names = set(archive.namelist())
    if office := next((folder for folder in _OFFICE_FOLDERS if any(name.startswith(folder) for name in names)), None):
        return _office_reader(office)
    if "META-INF/container.xml" in names:
        from marchwarden.extraction import epub  # noqa: PLC0415

        return epub.read
    if "META-INF/manifest.xml" in names and names & {"content.xml", "encrypted-package"}:
        from marchwarden.extraction import opendocument  # noqa: PLC0415

        return opendocument.read
    raise Unreadable("a zip archive")


def _office_reader(folder: str) -> Callable[[zipfile.ZipFile], Extracted]:
    """Return the reader of Office files that keep their content in this folder of the archive."""
    match folder:
        case "word/document":
            from marchwarden.extraction import word  # noqa: PLC0415

            return word.read
        case "ppt/presentation":
            from marchwarden.extraction import slides  # noqa: PLC0415

            return slides.read
    from marchwarden.extraction import workbook  # noqa: PLC0415

    return workbook.read
