"""Extract the text of a PDF as headings, paragraphs, lists, code and tables, with the page of each."""

import re
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Final

import pypdfium2
import pypdfium2.raw

from marchwarden.extraction import ocr
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.limits import MAX_LINES, check_length
from marchwarden.extraction.pdf_headings import read_outline
from marchwarden.extraction.pdf_layout import lay_out
from marchwarden.extraction.pdf_lines import Line, read_lines
from marchwarden.extraction.plain import parse_day

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_PAGES: Final = 5_000

_CREATED: Final = re.compile(r"D:(\d{4})(\d{2})(\d{2})")
_FEW_CHARACTERS: Final = 40
"""Scanning programs put their name on a page that is otherwise a picture."""
_PICTURE_SHARE: Final = 0.5
_MOST_OBJECTS: Final = 50
_LARGEST_SCALE: Final = 300 / 72


def read(content: bytes, budget: ocr.OcrBudget = ocr.default_budget) -> Extracted:
    """Read all pages, marked `page=N`. Scanned pages are read by OCR if it is installed."""
    document = _open_pdf(content)
    try:
        if len(document) > MAX_PAGES:
            raise Unreadable(f"a PDF of {len(document)} pages; at most {MAX_PAGES} are read")
        pages = _read_pages(document)
        reader = _read_scans(document, pages, budget)
        outline = read_outline(document)
        metadata = document.get_metadata_dict()
        count = len(document)
    finally:
        document.close()
    laid_out = lay_out(pages, outline, metadata.get("Title", ""))
    if not laid_out.builder.text:
        raise Unreadable("a PDF without text")
    return Extracted(
        text=laid_out.builder.text,
        title=laid_out.title,
        author=metadata.get("Author", ""),
        published=_creation_day(metadata.get("CreationDate", "")),
        media_type="application/pdf",
        marks=laid_out.builder.marks,
        blocks=laid_out.builder.blocks,
        remark=reader.remark(count),
    )


def _open_pdf(content: bytes) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        locked = error.err_code in (pypdfium2.raw.FPDF_ERR_PASSWORD, pypdfium2.raw.FPDF_ERR_SECURITY)
        # For a PDF without pages, PDFium repeats the error of an earlier document.
        raise Unreadable("an encrypted PDF" if locked and b"/Encrypt" in content else "a damaged PDF") from error


def _read_pages(document: pypdfium2.PdfDocument) -> list[list[Line]]:
    pages: list[list[Line]] = []
    characters = count = 0
    for number in range(len(document)):
        lines = _read_page(document, number)
        pages.append(lines)
        characters += sum(len(line.text) for line in lines)
        count += len(lines)
        check_length(characters)
        if count > MAX_LINES:
            raise Unreadable(f"it has more than {MAX_LINES:,} lines or sentences")
    return pages


def _read_page(document: pypdfium2.PdfDocument, number: int) -> list[Line]:
    try:
        page = document[number]
    except pypdfium2.PdfiumError:
        return []  # a broken page does not affect the others
    try:
        return read_lines(page, number)
    except pypdfium2.PdfiumError:
        return []
    finally:
        page.close()


def _read_scans(document: pypdfium2.PdfDocument, pages: list[list[Line]], budget: ocr.OcrBudget) -> ocr.OcrReader:
    """Read the pages that are pictures by OCR. Raises `Unreadable` if there is nothing else and OCR is missing."""
    reader = ocr.OcrReader(budget)
    scans = [number for number, lines in enumerate(pages) if _has_few(lines) and _is_picture(document, number)]
    if len(scans) == sum(map(_has_few, pages)) == len(pages):
        ocr.require("a scanned PDF")
    if ocr.is_installed():
        for number in scans:
            pages[number] = reader.read_page(number, partial(_render, document, number)) or pages[number]
    return reader


def _has_few(lines: list[Line]) -> bool:
    return sum(len(line.text) for line in lines) < _FEW_CHARACTERS


def _is_picture(document: pypdfium2.PdfDocument, number: int) -> bool:
    """Whether a large part of a page is an image."""
    try:
        page = document[number]
        width, height = page.get_size()
        images = page.get_objects([pypdfium2.raw.FPDF_PAGEOBJ_IMAGE], max_depth=2)
        for count, image in enumerate(images):
            left, bottom, right, top = image.get_bounds()
            if (right - left) * (top - bottom) >= _PICTURE_SHARE * width * height:
                return True
            if count == _MOST_OBJECTS:
                break
    except pypdfium2.PdfiumError:
        pass
    return False


def _render(document: pypdfium2.PdfDocument, number: int) -> "NDArray[np.uint8]":
    """Draw a page, however large, at a size that OCR can read."""
    page = document[number]
    scale = min(ocr.LONGEST_SIDE / max(*page.get_size(), 1.0), _LARGEST_SCALE)
    picture: NDArray[np.uint8] = page.render(scale=scale, rev_byteorder=False).to_numpy()
    return picture[:, :, :3]


def _creation_day(text: str) -> date | None:
    match = _CREATED.match(text)
    return parse_day("-".join(match.groups())) if match else None
