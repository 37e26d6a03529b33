"""Read Rich Text Format: its paragraphs and table rows. Headings are not guessed; pictures are left out."""

from typing import Final

from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.document import Extracted, Unreadable

_MOST_BYTES: Final = 50_000_000
_FEWEST_CELLS: Final = 2


def read(content: bytes) -> Extracted:
    """Read the text."""
    from striprtf.striprtf import rtf_to_text  # noqa: PLC0415 - other documents do not need it

    if len(content) > _MOST_BYTES:
        raise Unreadable(f"an RTF document over {_MOST_BYTES // 1_000_000} MB")
    try:
        text = str(rtf_to_text(content.decode("latin-1"), errors="replace"))
    except (ValueError, LookupError, IndexError, AttributeError, TypeError) as error:
        raise Unreadable("a damaged RTF document") from error
    builder = DocumentBuilder()
    for paragraph in _with_whole_characters(text).split("\n"):
        cells = paragraph.split("|")
        if len(cells) > _FEWEST_CELLS and not cells[-1].strip():
            builder.row(cells[:-1])
        else:
            builder.paragraph(paragraph)
    if not builder.text:
        raise Unreadable("an RTF document without text")
    return Extracted(text=builder.text, media_type="application/rtf", blocks=builder.blocks)


def _with_whole_characters(text: str) -> str:
    """Join the halves of characters that are written as two numbers, such as emoji."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
