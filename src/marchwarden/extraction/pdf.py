"""Extract the text of a PDF as headings, paragraphs, lists, code and tables, with the page of each."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Final

import pypdfium2
import pypdfium2.raw

from marchwarden.core.blocks import BlockKind
from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.limits import MAX_LINES, check_length
from marchwarden.extraction.pdf_groups import Group, group
from marchwarden.extraction.pdf_headings import mark_headings, read_outline
from marchwarden.extraction.pdf_lines import Line, read_lines
from marchwarden.extraction.pdf_margins import without_margins
from marchwarden.extraction.pdf_style import Style, body_size, measure
from marchwarden.extraction.pdf_tables import find_rows
from marchwarden.extraction.pdf_text import find_compounds, join_code, join_lines
from marchwarden.extraction.plain import parse_day
from marchwarden.text.sanitize import one_line

MAX_PAGES: Final = 5_000

_CREATED: Final = re.compile(r"D:(\d{4})(\d{2})(\d{2})")
_NO_TITLE: Final = re.compile(
    r"(?:microsoft (?:word|powerpoint|excel) - .*|\(?untitled.*|\(?anonymous\)?|(?:powerpoint )?presentation\d*|"
    r"document\s?\d*|slide \d+|titel?|about:blank|\W*|(?:https?://|file:)\S*|"
    r"\S*\.(?:docx?|odt|rtf|pptx?|xlsx?|pdf|tex|dvi|e?ps|indd|qxd|html?|md|txt))",
    re.IGNORECASE,
)
_LARGER_THAN_BODY: Final = 1.1
_LONGEST_TITLE: Final = 200


def read(content: bytes) -> Extracted:
    """Read all pages, marked `page=N`. A scan without a text layer is refused: it has no text to quote."""
    document = _open_pdf(content)
    try:
        if len(document) > MAX_PAGES:
            raise Unreadable(f"a PDF of {len(document)} pages; at most {MAX_PAGES} are read")
        pages = _read_pages(document)
        outline = read_outline(document)
        metadata = document.get_metadata_dict()
    finally:
        document.close()
    lines = without_margins(pages, body_size(line for page in pages for line in page))
    if not lines:
        raise Unreadable("a PDF without text, perhaps a scan")
    style = measure(lines)
    groups = mark_headings(group(lines, style, find_rows(lines)), style, outline)
    builder = _build(groups, style, find_compounds(lines))
    return Extracted(
        text=builder.text,
        title=_title(metadata.get("Title", ""), groups, style),
        author=metadata.get("Author", ""),
        published=_creation_day(metadata.get("CreationDate", "")),
        media_type="application/pdf",
        marks=builder.marks,
        blocks=builder.blocks,
    )


def _open_pdf(content: bytes) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        locked = error.err_code in (pypdfium2.raw.FPDF_ERR_PASSWORD, pypdfium2.raw.FPDF_ERR_SECURITY)
        raise Unreadable("an encrypted PDF" if locked else "a damaged PDF") from error


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


def _build(groups: Sequence[Group], style: Style, compounds: frozenset[str]) -> DocumentBuilder:
    builder = DocumentBuilder()
    for each in groups:
        builder.mark(f"page={each.first.page + 1}")
        if each.cells:
            builder.row(each.cells, header=each.kind is BlockKind.TABLE_HEADER)
        elif each.kind is BlockKind.CODE:
            builder.code(join_code(each.lines, style.leading(each.first.size)))
        else:
            _add_text(builder, each, join_lines(each.lines, compounds))
    return builder


def _add_text(builder: DocumentBuilder, each: Group, text: str) -> None:
    match each.kind:
        case BlockKind.HEADING:
            builder.heading(text, each.level)
        case BlockKind.ITEM:
            builder.item(text, each.level)
        case BlockKind.CAPTION:
            builder.caption(text)
        case BlockKind.NOTE:
            builder.note(text)
        case _:
            builder.paragraph(text)


def _title(metadata: str, groups: Sequence[Group], style: Style) -> str:
    """Return the title of the metadata unless it is a placeholder or file name, else the largest text on page 1."""
    title = one_line(metadata)
    if not _NO_TITLE.fullmatch(title):
        return title
    first = [each for each in groups if each.first.page == groups[0].first.page and each.first.upright]
    largest = max(first, key=lambda each: each.first.size, default=None)
    if largest is None or largest.first.size < style.size * _LARGER_THAN_BODY:
        return ""
    return join_lines(largest.lines)[:_LONGEST_TITLE]


def _creation_day(text: str) -> date | None:
    match = _CREATED.match(text)
    return parse_day("-".join(match.groups())) if match else None
