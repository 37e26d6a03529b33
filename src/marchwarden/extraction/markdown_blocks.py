"""Find the blocks of a Markdown text, as spans of the unchanged text. Does not interpret emphasis or links."""

import re
from array import array
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from marchwarden.core.blocks import Block, BlockKind, shift
from marchwarden.extraction import rst_blocks

_FRONT_MATTER: Final = re.compile(r"\A---[ \t]*\n.{0,10000}?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_LINE: Final = re.compile(r"[^\n]*(?:\n|\Z)")
_DEFINITION: Final = re.compile(r"(?P<term>[^\n]{1,200})\n[ \t]{0,3}:[ \t]+(?P<description>\S.*)", re.DOTALL)
_ADMONITION: Final = re.compile(r"(?:!!!|\?\?\?\+?)[ \t]+\w")
_TAG: Final = re.compile(r"<!--.*?-->|<[^<>]*>", re.DOTALL)
_SHOWN_TEXT: Final = re.compile(r"[^\W_]")
_QUOTE_MARKS: Final = re.compile(r"(?:[ \t]*>)*[ \t]?(?:\[![A-Z]+\][ \t]*\n(?:[ \t]*>)*[ \t]?)?")
_NOTE_FENCE: Final = re.compile(
    r"\{(?:admonition|note|warning|tip|hint|caution|danger|important|attention|seealso|versionadded|versionchanged|"
    r"deprecated|topic|sidebar)\}"
)
_DIRECTIVE_OPTION: Final = re.compile(r"(?:[ \t]*:[\w-]+:[^\n]*\n)+")


def find_blocks(text: str) -> tuple[Block, ...]:
    """Return the blocks of a text. Front matter and the targets of links are in none of them."""
    return tuple(_Blocks(text).find())


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])


class _Blocks:
    """Walks the tokens of a text, which say where the lines of each block begin and end.

    `_lists` holds, for each list around the current token, whether its item still needs its first paragraph.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        front = _FRONT_MATTER.match(text)
        self._begin = front.end() if front else 0
        self._starts = array("q", [self._begin])
        self._starts.extend(line.end() for line in _LINE.finditer(text, self._begin) if line.end() > line.start())
        self._starts.append(len(text))
        self._lists: list[bool] = []
        self._quotes = 0
        self._in_header = self._in_admonition = False

    def find(self) -> Iterator[Block]:
        for token in _parser().parse(self._text[self._begin :]):
            self._enter(token)
            yield from self._blocks_of(token)
            if token.type in {"paragraph_open", "heading_open", "code_block"}:
                self._in_admonition = bool(_ADMONITION.match(self._text, self._span(token)[0]))

    def _enter(self, token: Token) -> None:
        """Follow the lists, quotations and table headers that begin and end."""
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self._lists.append(False)
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open":
                self._lists[-1] = True
            case "blockquote_open" | "blockquote_close":
                self._quotes += token.nesting
            case "thead_open" | "thead_close":
                self._in_header = token.type == "thead_open"

    def _blocks_of(self, token: Token) -> Iterator[Block]:
        level = len(self._lists)
        match token.type:
            case "heading_open":
                yield from self._block(BlockKind.HEADING, *self._heading_span(token), int(token.tag[1]))
            case "paragraph_open":
                yield from self._paragraph(token, level)
            case "fence":
                yield from self._fence(token, level)
            case "code_block":
                yield from self._block(self._indented_kind(), *self._span(token), level)
            case "tr_open":
                yield from self._block(self._row_kind(), *self._span(token))
            case "html_block" if _SHOWN_TEXT.search(_TAG.sub("", token.content)):
                yield from self._block(BlockKind.PARAGRAPH, *self._span(token), level)

    def _indented_kind(self) -> BlockKind:
        """Indented lines are code, except below `!!! note`."""
        return BlockKind.NOTE if self._in_admonition else BlockKind.CODE

    def _row_kind(self) -> BlockKind:
        return BlockKind.TABLE_HEADER if self._in_header else BlockKind.ROW

    def _paragraph(self, token: Token, level: int) -> Iterator[Block]:
        """Yield a paragraph in its role: the first of a list item, a part of a quotation, or a definition."""
        start, end = self._span(token)
        if self._lists and self._lists[-1]:
            self._lists[-1] = False
            yield from self._block(BlockKind.ITEM, self._text.rfind("\n", 0, start) + 1, end, level - 1)
        elif self._quotes:
            mark = _QUOTE_MARKS.match(self._text, start, end)
            yield from self._block(BlockKind.NOTE, mark.end() if mark else start, end, level)
        elif _ADMONITION.match(self._text, start):
            title_end = self._text.find("\n", start, end)
            yield from self._block(BlockKind.NOTE, end if title_end < 0 else title_end, end, level)
        elif definition := _DEFINITION.fullmatch(self._text[start:end].rstrip()):
            yield from self._block(BlockKind.TERM, start, start + definition.end("term"), level)
            yield from self._block(BlockKind.DESCRIPTION, start + definition.start("description"), end, level)
        else:
            yield from self._block(BlockKind.PARAGRAPH, start, end, level)

    def _fence(self, token: Token, level: int) -> Iterator[Block]:
        """Yield the lines between the fences. Some directives put prose between fences."""
        first, last = _lines(token)
        start, end = self._starts[first + 1], self._starts[last]
        closing = self._text.rfind("\n", start, max(end - 1, start)) + 1
        if self._text[closing:end].strip().startswith(token.markup):
            end = max(closing, start)
        if token.info.startswith("{eval-rst}"):
            yield from (shift(block, start) for block in rst_blocks.find_blocks(self._text[start:end]))
            return
        kind = BlockKind.CODE
        if _NOTE_FENCE.match(token.info):
            kind = BlockKind.NOTE
            options = _DIRECTIVE_OPTION.match(self._text, start, end)
            start = options.end() if options else start
        yield from self._block(kind, start, end, level)

    def _heading_span(self, token: Token) -> tuple[int, int]:
        """Return the span of a heading, without the line below that underlines it."""
        first, last = _lines(token)
        return self._starts[first], self._starts[last - 1 if token.markup in "-=" else last]

    def _span(self, token: Token) -> tuple[int, int]:
        first, last = _lines(token)
        return self._starts[first], self._starts[last]

    def _block(self, kind: BlockKind, start: int, end: int, level: int = 0) -> Iterator[Block]:
        """Yield the block without white space around it, or nothing if it is empty. Code keeps its indentation."""
        span = self._text[start:end]
        start += len(span) - len(span.lstrip("\n" if kind is BlockKind.CODE else None))
        end = start + len(self._text[start:end].rstrip())
        if end > start:
            yield Block(kind, start, end, level)


def _lines(token: Token) -> Sequence[int]:
    assert token.map is not None, "every block token has lines"
    return token.map
