"""Split text into passages and sentences: character spans with short ids.

Every letter and digit of a text is in exactly one sentence, and every sentence is in exactly one passage. Knows nothing
about documents, ranking or questions.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from marchwarden.core.blocks import Block, BlockKind
from marchwarden.core.plain_blocks import LONGEST_HEADING, heading_text, is_underline, line_blocks, prose_blocks
from marchwarden.core.sentences import LONGEST_SENTENCE, cut_at_breaks, has_text, split_sentences, trim

Layout = Literal["prose", "lines", "table"]
"""`lines`: each line is separate (code, logs). `table`: likewise, and the first line names the columns."""

FULL_PASSAGE: Final = 700
PASSAGE_MAY_END: Final = 400

_FIRST_LINE: Final = re.compile(r"\S[^\n]*")
_CODE_LINE: Final = re.compile(r"[^\n]+")
_SENTENCES: Final = frozenset(
    {BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.DESCRIPTION, BlockKind.CAPTION, BlockKind.NOTE}
)
"""The kinds of blocks that consist of sentences. Others are cut only if they are too long."""


_INSIDE_TABLES: Final = frozenset({BlockKind.TABLE_HEADER, BlockKind.ROW, BlockKind.NOTE, BlockKind.CAPTION})


@dataclass(frozen=True, slots=True)
class Sentence:
    """The smallest unit of evidence. Headings are sentences too. `kind` is the role of the block it is part of."""

    id: str
    start: int
    end: int
    kind: BlockKind = BlockKind.PARAGRAPH

    @property
    def is_heading(self) -> bool:
        return self.kind is BlockKind.HEADING


@dataclass(frozen=True, slots=True)
class Passage:
    """A few consecutive sentences under one heading of a document.

    `path` names the sections and the defined term that the passage is part of, outermost first. `heading` is the last.
    Below the header of a table, this is the header.
    """

    id: str
    document: int
    start: int
    end: int
    sentences: tuple[Sentence, ...]
    heading: str = ""
    path: tuple[str, ...] = ()

    def names(self, title: str) -> tuple[str, ...]:
        """Return what names the passage: the title of its document, unless a heading repeats it, and the path."""
        return self.path if title in self.path else (title, *self.path)


def split(
    text: str, layout: Layout = "prose", blocks: Sequence[Block] = (), *, first: int = 1, document: int = 0
) -> list[Passage]:
    """Split a text into passages, numbered from `first`."""
    return list(iter_passages(text, layout, blocks, first=first, document=document))


def iter_passages(
    text: str, layout: Layout = "prose", blocks: Sequence[Block] = (), *, first: int = 1, document: int = 0
) -> Iterator[Passage]:
    """Yield the passages of a text one by one, for texts whose passages need not be in memory together.

    Without `blocks`, the structure is guessed from the text.
    """
    path = _SectionPath(_first_line(text) if layout == "table" else "")
    number = first
    pending: list[tuple[int, int, BlockKind]] = []

    def close() -> Iterator[Passage]:
        nonlocal number
        if pending:
            name = f"p{number}"
            sentences = tuple(Sentence(f"{name}.s{at}", *piece) for at, piece in enumerate(pending, 1))
            names = path.names_above(pending[0][0])
            yield Passage(name, document, pending[0][0], pending[-1][1], sentences, names[-1] if names else "", names)
            number += 1
            pending.clear()

    for block in blocks or (prose_blocks(text) if layout == "prose" else line_blocks(text)):
        is_full = pending and block.end - pending[0][0] > FULL_PASSAGE and _length(pending) > PASSAGE_MAY_END
        if is_full or path.would_change(block):
            # A term directly below a heading or another term stays with it.
            yield from close()
        path.enter(block, text)
        for start, end in _pieces(text, block, is_prose=layout == "prose"):
            if pending and end - pending[0][0] > FULL_PASSAGE and not block.kind.is_name:
                yield from close()
            pending.append((start, end, block.kind))
    yield from close()


def is_marked(text: str, heading: Sentence) -> bool:
    """Whether a heading is marked as one in the text, rather than guessed from a short separate line."""
    below = text[heading.end : heading.end + 2 * LONGEST_HEADING].lstrip(" \t").removeprefix("\n").partition("\n")[0]
    return text.startswith("#", heading.start) or is_underline(below)


@dataclass
class _SectionPath:
    """The headings and the defined terms that the current block is below."""

    table_header: str = ""
    _table: tuple[int, str] | None = None
    _headings: list[tuple[int, str]] = field(default_factory=list)
    _terms: list[tuple[int, str]] = field(default_factory=list)
    _last: BlockKind = BlockKind.PARAGRAPH

    def names_above(self, start: int) -> tuple[str, ...]:
        """Return the names above a passage that starts there: with the header if it starts within a table."""
        table = (self._table[1],) if self._table and self._table[0] < start else ()
        found = (*(name for _, name in self._headings), *(name for _, name in self._terms), *table)
        return found or ((self.table_header,) if self.table_header else ())

    def would_change(self, block: Block) -> bool:
        """Whether the block starts a section or a definition, or ends a definition."""
        if block.kind is BlockKind.HEADING:
            return True
        if block.kind is BlockKind.TERM:
            return not self._last.is_name
        return bool(self._terms) and _ends_term(block, self._terms[-1][0])

    def enter(self, block: Block, text: str) -> None:
        if block.kind is BlockKind.TABLE_HEADER:
            self._table = block.start, text[block.start : block.end][:LONGEST_SENTENCE]
        elif block.kind not in _INSIDE_TABLES:
            self._table = None
        name = heading_text(text[block.start : block.end])[:LONGEST_SENTENCE] if block.kind.is_name else ""
        match block.kind:
            case BlockKind.HEADING:
                self._terms.clear()
                while self._headings and self._headings[-1][0] >= block.level:
                    self._headings.pop()
                self._headings.append((block.level, name))
            case BlockKind.TERM:
                # Several terms can share one description.
                shared = self._terms[-1][1] if self._last is BlockKind.TERM and self._terms else ""
                while self._terms and self._terms[-1][0] >= block.level:
                    self._terms.pop()
                self._terms.append((block.level, f"{shared}, {name}" if shared else name))
            case _:
                while self._terms and _ends_term(block, self._terms[-1][0]):
                    self._terms.pop()
        self._last = block.kind


def _ends_term(block: Block, level: int) -> bool:
    """Whether the block is not part of the description of a term of this level."""
    return block.level < level or (block.level == level and block.kind is not BlockKind.DESCRIPTION)


def _pieces(text: str, block: Block, *, is_prose: bool) -> Iterator[tuple[int, int]]:
    """Yield the spans of the sentences, code lines or rows of a block."""
    if block.kind in _SENTENCES and is_prose:
        yield from split_sentences(text, block.start, block.end)
    elif block.kind is BlockKind.CODE:
        for line in _CODE_LINE.finditer(text, block.start, block.end):
            if has_text(line[0]):
                yield from cut_at_breaks(text, *trim(text, *line.span()))
    elif block.kind.is_name:
        yield block.start, block.end
    else:
        yield from cut_at_breaks(text, block.start, block.end)


def _length(pending: list[tuple[int, int, BlockKind]]) -> int:
    return pending[-1][1] - pending[0][0]


def _first_line(text: str) -> str:
    first = _FIRST_LINE.search(text)
    return first[0].strip()[:LONGEST_SENTENCE] if first else ""
