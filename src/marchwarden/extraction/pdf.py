"""Extract the text of a PDF, page by page."""

import re
from datetime import date
from typing import Final

import pypdfium2
import pypdfium2.raw

from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.parts import DocumentPart, join_parts
from marchwarden.extraction.plain import parse_day
from marchwarden.text.sanitize import printable

MAX_PAGES: Final = 5_000

_HYPHENATION: Final = re.compile("[\ufffe\u0002]\\s*")
_CREATED: Final = re.compile(r"D:(\d{4})(\d{2})(\d{2})")


def read(content: bytes) -> Extracted:
    """Read all pages, marked `page=N`. A scan without a text layer is refused: it has no text to quote."""
    document = _open_pdf(content)
    try:
        if len(document) > MAX_PAGES:
            raise Unreadable(f"a PDF of {len(document)} pages; at most {MAX_PAGES} are read")
        text, marks = join_parts(
            [DocumentPart(f"page={index + 1}", _page_text(document, index)) for index in range(len(document))]
        )
        metadata = document.get_metadata_dict()
    finally:
        document.close()
    if not text:
        raise Unreadable("a PDF without text, perhaps a scan")
    return Extracted(
        text=text,
        title=metadata.get("Title", ""),
        author=metadata.get("Author", ""),
        published=_creation_day(metadata.get("CreationDate", "")),
        media_type="application/pdf",
        marks=marks,
    )


def _open_pdf(content: bytes) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        locked = error.err_code in (pypdfium2.raw.FPDF_ERR_PASSWORD, pypdfium2.raw.FPDF_ERR_SECURITY)
        raise Unreadable("an encrypted PDF" if locked else "a damaged PDF") from error


def _page_text(document: pypdfium2.PdfDocument, index: int) -> str:
    try:
        page = document[index]
        text = page.get_textpage().get_text_bounded()
    except pypdfium2.PdfiumError:
        return ""  # a broken page does not affect the others
    # PDFium marks a word hyphenated at the end of a line. Rejoin it.
    return printable(_HYPHENATION.sub("", text))


def _creation_day(text: str) -> date | None:
    match = _CREATED.match(text)
    return parse_day("-".join(match.groups())) if match else None
