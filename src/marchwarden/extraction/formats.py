"""Detect the format of some bytes and read them. The bytes decide; the file name is only a hint.

`extract` parses in this process. For untrusted bytes use an `Extractor`, which can kill its parser.
"""

import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from io import BytesIO
from pathlib import PurePosixPath
from typing import Final

from marchwarden.extraction import ocr, packed, plain, structured
from marchwarden.extraction.attachments import clean_name
from marchwarden.extraction.charset import decode, has_wide_bom
from marchwarden.extraction.document import Attachment, Extracted, Unreadable
from marchwarden.extraction.limits import check_text
from marchwarden.text.sanitize import one_line


class Format(StrEnum):
    """Formats, detected from the first bytes. `ARCHIVE` is a zip; its entries decide whether it is a document.

    `STRUCTURED` is a text that has a reader of its own.
    """

    TEXT = "text"
    HTML = "html"
    PDF = "pdf"
    ARCHIVE = "archive"
    TAR = "tar"
    COMPRESSED = "compressed"
    STRUCTURED = "structured"
    IMAGE = "image"


PDF_WITHIN: Final = 1024
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


def extract(content: bytes, name: str, budget: ocr.OcrBudget = ocr.default_budget) -> Extracted:
    """Extract the clean text of a document of any supported format. `budget`: see `OcrBudget`."""
    match detect_format(content, name):
        case Format.TEXT:
            extracted = plain.read(decode(content), name)
        case Format.HTML:
            extracted = _read_html(decode(content))
        case Format.PDF:
            extracted = _read_pdf(content, budget)
        case Format.ARCHIVE:
            extracted = _read_archive(content)
        case Format.TAR:
            extracted = packed.read_tar(content)
        case Format.COMPRESSED:
            extracted = _read_compressed(content, name)
        case Format.STRUCTURED:
            extracted = structured.read(content, name)
        case Format.IMAGE:
            extracted = _read_image(content, budget)
    check_text(extracted.text)
    title = one_line(extracted.title) or one_line(PurePosixPath(name).stem)
    return replace(
        extracted,
        title=f"{title} ({extracted.remark})" if extracted.remark else title,
        author=one_line(extracted.author),
        site=one_line(extracted.site),
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


def _read_pdf(content: bytes, budget: ocr.OcrBudget) -> Extracted:
    from marchwarden.extraction import pdf  # noqa: PLC0415

    return pdf.read(content, budget)


def _read_image(content: bytes, budget: ocr.OcrBudget) -> Extracted:
    ocr.require("an image")
    from marchwarden.extraction import image  # noqa: PLC0415

    return image.read(content, budget)


def _read_archive(content: bytes) -> Extracted:
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            return _reader_for(archive)(archive)
    except (
        zipfile.BadZipFile,
        NotImplementedError,
        EOFError,
        OSError,
        ValueError,
        zlib.error,
        lzma.LZMAError,
    ) as error:
        raise Unreadable("a damaged zip archive") from error


def _reader_for(archive: zipfile.ZipFile) -> Callable[[zipfile.ZipFile], Extracted]:
    names = set(archive.namelist())
    if "word/document.xml" in names:
        from marchwarden.extraction import word  # noqa: PLC0415

        return word.read
    if "META-INF/container.xml" in names:
        from marchwarden.extraction import epub  # noqa: PLC0415

        return epub.read
    return packed.read_zip


def _read_compressed(content: bytes, name: str) -> Extracted:
    """Read the file inside, as if it were not compressed. Only the caller may go deeper: it counts how deep it is."""
    inner, inner_name = packed.decompress(content, name)
    if detect_format(inner, inner_name) is Format.COMPRESSED:
        return Extracted("", attachments=(Attachment(clean_name(inner_name), inner),))
    return extract(inner, inner_name)
