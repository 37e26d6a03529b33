"""Turn the lines of pages into a document: its text, blocks and title. Does not know where the lines come from."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from marchwarden.core.blocks import BlockKind
from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.pdf_groups import Group, group
from marchwarden.extraction.pdf_headings import Outline, mark_headings
from marchwarden.extraction.pdf_lines import Line
from marchwarden.extraction.pdf_margins import without_margins
from marchwarden.extraction.pdf_style import Style, body_size, measure
from marchwarden.extraction.pdf_tables import find_rows
from marchwarden.extraction.pdf_text import find_compounds, join_code, join_lines
from marchwarden.text.sanitize import one_line

_NO_TITLE: Final = re.compile(
    r"(?:microsoft (?:word|powerpoint|excel) - .*|\(?untitled.*|\(?anonymous\)?|(?:powerpoint )?presentation\d*|"
    r"document\s?\d*|slide \d+|titel?|about:blank|\W*|(?:https?://|file:)\S*|"
    r"\S*\.(?:docx?|odt|rtf|pptx?|xlsx?|pdf|tex|dvi|e?ps|indd|qxd|html?|md|txt))",
    re.IGNORECASE,
)
_LARGER_THAN_BODY: Final = 1.1
_LONGEST_TITLE: Final = 200


@dataclass(frozen=True)
class PageDocument:
    """The structured text of a document of pages."""

    builder: DocumentBuilder
    title: str


def lay_out(pages: Sequence[Sequence[Line]], outline: Outline, title: str = "") -> PageDocument:
    """Build a document from the lines of its pages. `title`: of the metadata, replaced if it is a placeholder."""
    lines = without_margins(pages, body_size(line for page in pages for line in page))
    style = measure(lines)
    groups = mark_headings(group(lines, style, find_rows(lines)), style, outline)
    builder = _build(groups, style, find_compounds(lines))
    title = one_line(title)
    return PageDocument(builder, _largest_text(groups, style) if _NO_TITLE.fullmatch(title) else title)


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


def _largest_text(groups: Sequence[Group], style: Style) -> str:
    """Return the largest text on the first page, if it is larger than the body."""
    first = [each for each in groups if each.first.page == groups[0].first.page and each.first.upright]
    largest = max((each for each in first if len(each.first.text) > 1), key=lambda each: each.first.size, default=None)
    if largest is None or largest.first.size < style.size * _LARGER_THAN_BODY:
        return ""
    return join_lines(largest.lines)[:_LONGEST_TITLE]
