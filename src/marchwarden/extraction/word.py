"""Extract the text of a Word document (.docx): paragraphs and table rows in document order."""

import zipfile
from collections.abc import Iterator
from datetime import date, datetime
from typing import Final

import docx
import lxml.etree
from docx.opc.exceptions import OpcError
from docx.table import Table

from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.zip_limits import check_size
from marchwarden.text.sanitize import printable

_MEDIA_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def read(archive: zipfile.ZipFile) -> Extracted:
    """Read text and core properties. Does not expand entities or load external resources."""
    check_size(archive)
    assert archive.fp is not None, "the caller keeps the archive open"
    archive.fp.seek(0)
    try:
        document = docx.Document(archive.fp)
        blocks = list(_blocks(document))
        properties = document.core_properties
        title, author, created = properties.title, properties.author, properties.created
    except (OpcError, lxml.etree.LxmlError, KeyError, ValueError, AttributeError) as error:
        raise Unreadable("a damaged Word document") from error
    if not any(block.strip() for block in blocks):
        raise Unreadable("a Word document without text")
    return Extracted(
        text=printable("\n\n".join(block for block in blocks if block.strip())),
        title=title or "",
        author=author or "",
        published=_day(created),
        media_type=_MEDIA_TYPE,
    )


def _blocks(document: docx.document.Document) -> Iterator[str]:
    for block in document.iter_inner_content():
        if isinstance(block, Table):
            yield "\n".join(_rows(block))
        else:
            yield block.text


def _rows(table: Table) -> Iterator[str]:
    for row in table.rows:
        # A merged cell is listed once per column it spans.
        cells = list(dict.fromkeys(row.cells))
        yield " | ".join(" ".join(cell.text.split()) for cell in cells)


def _day(created: datetime | None) -> date | None:
    return created.date() if created else None
