"""The text of a PDF, page by page."""

import re
from datetime import date
from typing import Final

import pypdfium2
import pypdfium2.raw

from marchwarden.extraction.document import Extracted, Part, Unreadable, joined
from marchwarden.extraction.plain import day
from marchwarden.text.sanitize import printable

MOST_PAGES: Final = 5_000

_BROKEN_WORD: Final = re.compile("[\ufffe\u0002]\\s*")
_CREATED: Final = re.compile(r"D:(\d{4})(\d{2})(\d{2})")


def read(content: bytes) -> Extracted:
    """Every page's text, marked `page=N`. A scan without a text layer is refused: there is nothing to quote."""
    document = _opened(content)
    try:
        if len(document) > MOST_PAGES:
            raise Unreadable(f"a PDF of {len(document)} pages; at most {MOST_PAGES} are read")
        text, marks = joined([Part(f"page={at + 1}", _page(document, at)) for at in range(len(document))])
        details = document.get_metadata_dict()
    finally:
        document.close()
    if not text:
        raise Unreadable("a PDF without text, perhaps a scan")
    return Extracted(
        text=text,
        title=details.get("Title", ""),
        author=details.get("Author", ""),
        published=_created(details.get("CreationDate", "")),
        media_type="application/pdf",
        marks=marks,
    )


def _opened(content: bytes) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        locked = error.err_code in (pypdfium2.raw.FPDF_ERR_PASSWORD, pypdfium2.raw.FPDF_ERR_SECURITY)
        raise Unreadable("an encrypted PDF" if locked else "a damaged PDF") from error


def _page(document: pypdfium2.PdfDocument, at: int) -> str:
    try:
        page = document[at]
        written = page.get_textpage().get_text_bounded()
    except pypdfium2.PdfiumError:
        return ""  # one broken page does not cost the others
    # PDFium marks a word broken at a line's end; the word is given back whole.
    return printable(_BROKEN_WORD.sub("", written))


def _created(written: str) -> date | None:
    match = _CREATED.match(written)
    return day("-".join(match.groups())) if match else None
