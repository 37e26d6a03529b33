"""What tests say about extracted documents."""

from marchwarden.core.blocks import BlockKind
from marchwarden.core.notebook import Document
from marchwarden.extraction import Extracted


def blocks_of(extracted: Extracted) -> list[tuple[str, str]]:
    """The kinds and texts of all blocks."""
    return [(block.kind.value, extracted.text[block.start : block.end]) for block in extracted.blocks]


def texts_of(extracted: Extracted, kind: BlockKind) -> list[str]:
    return [extracted.text[block.start : block.end] for block in extracted.blocks if block.kind is kind]


def locate(extracted: Extracted, words: str) -> str:
    """The locator of the first occurrence of these words."""
    document = Document("file", "x", b"", extracted.text, lines=extracted.lines, marks=extracted.marks)
    start = extracted.text.index(words)
    return document.locate(start, start + len(words))
