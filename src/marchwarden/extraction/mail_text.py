"""Divide the text of an email into paragraphs, list items, quoted replies and the signature."""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from marchwarden.core.plain_blocks import is_underline
from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.document import Unreadable
from marchwarden.text.sanitize import printable

LONGEST_WRAPPED_LINE: Final = 100
SHORTEST_WRAPPED_LINE: Final = 45
"""The longest line of a text that is wrapped at a fixed width is between these lengths."""
SLACK: Final = 8
"""How many characters shorter a wrapped line may be than the longest one: people do not wrap as programs do."""

_QUOTED: Final = re.compile(r"(?:[ \t]?>)+")
_ITEM: Final = re.compile(r"\s*(?:[-*+•–]|\d{1,3}[.)])\s+\S")
_SIGNATURE: Final = re.compile(r"--\s?")


def add_mail_text(builder: DocumentBuilder, text: str, *, is_html: bool = False) -> None:
    """Add the text of an email. HTML is read as a web page."""
    if is_html:
        _add_page(builder, text)
        return
    lines = printable(text).split("\n")
    signature = next((at for at, line in enumerate(lines) if _SIGNATURE.fullmatch(line)), len(lines))
    for depth, quoted in groupby(lines[:signature], _quote_depth):
        stripped = [_QUOTED.sub("", line, count=1) if depth else line for line in quoted]
        for paragraph in join_lines(stripped):
            if depth:
                builder.note(paragraph, depth)
            elif _ITEM.match(paragraph):
                builder.item(paragraph)
            elif not is_underline(paragraph):
                builder.paragraph(paragraph)
    for line in lines[signature + 1 :]:
        builder.note(line)


def join_lines(lines: list[str]) -> Iterator[str]:
    """Yield paragraphs. Lines wrapped at a fixed width are joined; other line breaks are kept, as in an address."""
    width = max((len(line.rstrip()) for line in lines), default=0)
    is_wrapped = SHORTEST_WRAPPED_LINE <= width <= LONGEST_WRAPPED_LINE
    pending: list[str] = []
    for line in lines:
        starts_new = (
            not pending or _ITEM.match(line) or not _is_soft_break(pending[-1], line, width if is_wrapped else 0)
        )
        if starts_new and pending:
            yield " ".join(pending)
            pending = []
        if line.strip():
            pending.append(line)
    if pending:
        yield " ".join(pending)


def _is_soft_break(line: str, following: str, width: int) -> bool:
    """Whether a line ends because the first word of the next one does not fit. A flowed line ends with a space."""
    if not following.strip():
        return False
    first_word = following.split(maxsplit=1)[0]
    if line.endswith(" ") and len(line) > SHORTEST_WRAPPED_LINE:
        return True
    return width > 0 and len(line.rstrip()) + 1 + len(first_word) > width - SLACK


def _quote_depth(line: str) -> int:
    quoted = _QUOTED.match(line)
    return quoted[0].count(">") if quoted else 0


def _add_page(builder: DocumentBuilder, markup: str) -> None:
    from marchwarden.extraction import webpage  # noqa: PLC0415 - the parser of HTML takes 200 ms to import

    try:
        page = webpage.read_fragment(markup)
    except Unreadable:
        return
    builder.include(page.text, page.blocks, below=1)
