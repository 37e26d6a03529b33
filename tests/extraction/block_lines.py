"""Helpers that show an extracted document as its blocks."""

from marchwarden.core.blocks import BlockKind
from marchwarden.core.notebook import Document
from marchwarden.extraction import Extracted, extract


def blocks_of(extracted: Extracted) -> list[tuple[str, str]]:
    """The kinds and texts of all blocks."""
    return [(block.kind.value, extracted.text[block.start : block.end]) for block in extracted.blocks]


def texts_of(extracted: Extracted, kind: BlockKind) -> list[str]:
    return [extracted.text[block.start : block.end] for block in extracted.blocks if block.kind is kind]


def lines(extracted: Extracted) -> list[str]:
    """Each block as `kind: text`."""
    return [f"{kind}: {text}" for kind, text in blocks_of(extracted)]


def read_lines(content: bytes, name: str) -> list[str]:
    return lines(extract(content, name))


def locate(extracted: Extracted, words: str) -> str:
    """The locator of the first occurrence of these words."""
    document = Document("file", "x", b"", extracted.text, lines=extracted.lines, marks=extracted.marks)
    start = extracted.text.index(words)
    return document.locate(start, start + len(words))


def located(extracted: Extracted, words: str) -> str:
    """The fragment of that locator."""
    return locate(extracted, words).partition("#")[2]
