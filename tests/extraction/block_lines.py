"""Helpers that show an extracted document as its blocks."""

from marchwarden.core.notebook import Document
from marchwarden.extraction import Extracted, extract


def lines(extracted: Extracted) -> list[str]:
    """Each block as `kind: text`."""
    return [f"{block.kind}: {extracted.text[block.start : block.end]}" for block in extracted.blocks]


def read_lines(content: bytes, name: str) -> list[str]:
    return lines(extract(content, name))


def located(extracted: Extracted, words: str) -> str:
    """The fragment of the locator of these words."""
    start = extracted.text.index(words)
    document = Document("file", "x", b"", extracted.text, lines=extracted.lines, marks=extracted.marks)
    return document.locate(start, start + len(words)).partition("#")[2]
