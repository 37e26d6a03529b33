"""Detect the format of some bytes. The bytes decide; the file name is only a hint."""

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final

from marchwarden.extraction import packed, plain, structured
from marchwarden.extraction.charset import has_wide_bom
from marchwarden.extraction.document import Unreadable


class Format(StrEnum):
    """Formats, detected from the first bytes. `ARCHIVE` is a zip; its entries decide whether it is a document.

    `STRUCTURED` is a text that has a reader of its own. `OLE` is the container of old or encrypted Office files.
    """

    TEXT = "text"
    HTML = "html"
    PDF = "pdf"
    ARCHIVE = "archive"
    TAR = "tar"
    COMPRESSED = "compressed"
    STRUCTURED = "structured"
    IMAGE = "image"
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
_IMAGE: Final = re.compile(
    rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|II[*+]\x00|MM\x00[*+]|RIFF.{4}WEBP|"
    rb"BM.{4}\x00{4}.{4}[\x0c(4@8l|]\x00{3}",
    re.DOTALL,
)
_HTML_NAMES: Final = frozenset({".html", ".htm", ".xhtml"})
# Archives first: one may start with a PDF.
_SIGNATURES: Final[Sequence[tuple[Format, Callable[[bytes], object]]]] = (
    (Format.ARCHIVE, lambda content: content.startswith((b"PK\x03\x04", b"PK\x05\x06"))),
    (Format.TAR, packed.is_tar),
    (Format.COMPRESSED, packed.is_compressed),
    (Format.PDF, lambda content: b"%PDF-" in content[:PDF_WITHIN]),
    (Format.IMAGE, _IMAGE.match),
    (Format.OLE, lambda content: content.startswith(_OLE_MAGIC)),
    (Format.RTF, lambda content: content.startswith(_RTF_MAGIC)),
)


def detect_format(content: bytes, name: str) -> Format:
    """Return the format of the bytes. Raises `Unreadable` for binary data."""
    signed = next((kind for kind, is_signed in _SIGNATURES if is_signed(content)), None)
    if signed is not None:
        return signed
    if _is_binary(content[:_SNIFFED]):
        raise Unreadable("binary")
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in _HTML_NAMES or (not plain.is_text_suffix(suffix) and _HTML_OPENING.match(content[:_SNIFFED])):
        return Format.HTML
    return Format.STRUCTURED if structured.find_reader(content, name) else Format.TEXT


def _is_binary(head: bytes) -> bool:
    if has_wide_bom(head):
        return False
    odd = len(head) - len(head.translate(None, _ODD_BYTES))
    return b"\x00" in head or odd > len(head) * _ODD_SHARE
