"""Call the parsers of binary formats and web pages. Each import takes 50 to 400 ms, so they are imported on demand."""

import lzma
import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO
from typing import Final

from marchwarden.extraction import ocr, packed
from marchwarden.extraction.document import Extracted, Unreadable

_OFFICE_FOLDERS: Final = ("word/document", "xl/workbook", "ppt/presentation")


def read_html(markup: str) -> Extracted:
    from marchwarden.extraction import webpage

    return webpage.read(markup)


def read_pdf(content: bytes, budget: ocr.OcrBudget) -> Extracted:
    from marchwarden.extraction import pdf

    return pdf.read(content, budget)


def read_image(content: bytes, budget: ocr.OcrBudget) -> Extracted:
    ocr.require("an image")
    from marchwarden.extraction import image

    return image.read(content, budget)


def read_ole(content: bytes) -> Extracted:
    from marchwarden.extraction import ole

    return ole.read(content)


def read_rtf(content: bytes) -> Extracted:
    from marchwarden.extraction import rtf

    return rtf.read(content)


def read_archive(content: bytes) -> Extracted:
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
    if office := next((folder for folder in _OFFICE_FOLDERS if any(name.startswith(folder) for name in names)), None):
        return _office_reader(office)
    if "META-INF/container.xml" in names:
        from marchwarden.extraction import epub

        return epub.read
    if "META-INF/manifest.xml" in names and names & {"content.xml", "encrypted-package", "mimetype"}:
        from marchwarden.extraction import opendocument

        return opendocument.read
    return packed.read_zip


def _office_reader(folder: str) -> Callable[[zipfile.ZipFile], Extracted]:
    """Return the reader of Office files that keep their content in this folder of the archive."""
    match folder:
        case "word/document":
            from marchwarden.extraction import word

            return word.read
        case "ppt/presentation":
            from marchwarden.extraction import slides

            return slides.read
    from marchwarden.extraction import workbook

    return workbook.read
