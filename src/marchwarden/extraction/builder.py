"""DocumentBuilder: collects the blocks of a document while a reader walks it. Does not know file formats."""

from collections.abc import Iterable, Sequence
from typing import Final

from marchwarden.core.blocks import Block, BlockKind
from marchwarden.core.notebook import Mark
from marchwarden.core.plain_blocks import heading_text
from marchwarden.extraction.limits import check_length
from marchwarden.text.sanitize import printable

CELL_SEPARATOR: Final = " | "
_GAP: Final = "\n\n"
_TIGHT_GAP: Final = "\n"
_TIGHT: Final = frozenset({BlockKind.ITEM, BlockKind.TERM, BlockKind.DESCRIPTION})
_TABLE: Final = frozenset({BlockKind.TABLE_HEADER, BlockKind.ROW})


class DocumentBuilder:
    """Builds the text of a document and its blocks. Empty blocks are dropped.

    An empty line separates blocks, except list items, definitions and rows that follow each other.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._marks: list[Mark] = []
        self._fragment = ""

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(self._blocks)

    @property
    def marks(self) -> tuple[Mark, ...]:
        return tuple(self._marks)

    def mark(self, fragment: str) -> None:
        """Name the place of all following blocks, up to the next mark: `page=3`, `slide=4`, `Sheet1!A7`."""
        self._fragment = fragment

    def heading(self, text: str, level: int) -> None:
        self.add(BlockKind.HEADING, _on_one_line(text), max(level, 1))

    def paragraph(self, text: str, level: int = 0) -> None:
        self.add(BlockKind.PARAGRAPH, _on_one_line(text), level)

    def item(self, text: str, level: int = 0) -> None:
        """Add a list item. `text` includes its bullet or number."""
        self.add(BlockKind.ITEM, _on_one_line(text), level)

    def term(self, text: str, level: int = 0) -> None:
        """Add a defined term. Descriptions of the same level follow it."""
        self.add(BlockKind.TERM, _on_one_line(text), level)

    def description(self, text: str, level: int = 0) -> None:
        self.add(BlockKind.DESCRIPTION, _on_one_line(text), level)

    def code(self, text: str, level: int = 0) -> None:
        """Add lines that keep their line breaks and indentation."""
        lines = (line.rstrip() for line in printable(text).split("\n"))
        self.add(BlockKind.CODE, "\n".join(lines).strip("\n"), level)

    def row(self, cells: Sequence[str], *, header: bool = False) -> None:
        """Add a table row. All rows of a table have the same number of cells; empty ones are kept."""
        line = CELL_SEPARATOR.join(_on_one_line(cell).replace("|", "¦") for cell in cells)
        kind = BlockKind.TABLE_HEADER if header else BlockKind.ROW
        self.add(kind, f"| {line} |" if any(cell.strip() for cell in cells) else "", 0)

    def caption(self, text: str) -> None:
        self.add(BlockKind.CAPTION, _on_one_line(text), 0)

    def note(self, text: str, level: int = 0) -> None:
        """Add a remark that stands beside the main text: a footnote, speaker notes, a cell comment."""
        self.add(BlockKind.NOTE, _on_one_line(text), level)

    def include(self, text: str, blocks: Iterable[Block], *, below: int = 0) -> None:
        """Add the blocks of another document. Its headings become headings below the given level."""
        for block in blocks:
            piece = text[block.start : block.end]
            if block.kind is BlockKind.HEADING:
                self.heading(heading_text(piece), block.level + below)
            elif block.kind is BlockKind.CODE:
                self.code(piece, block.level)
            else:
                self.add(block.kind, _on_one_line(piece), block.level)

    def add(self, kind: BlockKind, text: str, level: int = 0) -> None:
        """Add a block as it is, for example one of another builder."""
        if not text.strip():
            return
        if self._blocks:
            self._append(_TIGHT_GAP if _is_tight(self._blocks[-1].kind, kind) else _GAP)
        if self._fragment and (not self._marks or self._marks[-1].fragment != self._fragment):
            self._marks.append(Mark(self._length, self._fragment))
        start = self._length
        self._append(text)
        self._blocks.append(Block(kind, start, self._length, level))

    def _append(self, piece: str) -> None:
        self._pieces.append(piece)
        self._length += len(piece)
        check_length(self._length)


def _is_tight(before: BlockKind, after: BlockKind) -> bool:
    return {before, after} <= _TABLE or {before, after} <= _TIGHT


def _on_one_line(text: str) -> str:
    return " ".join(printable(text).split())
