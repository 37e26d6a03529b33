"""Find the blocks of a reStructuredText, as spans of the unchanged text. Does not interpret roles or emphasis.

Why not docutils: it reports no character positions, and executes directives that read files.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from marchwarden.core.blocks import Block, BlockKind

_UNDERLINE: Final = re.compile(r"([!-/:-@\[-`{-~])\1{1,}[ \t]*")
_BULLET: Final = re.compile(r"(?:[-*+•‣]|\(?(?:\d{1,3}|[a-zA-Z#]|[ivxIVX]{2,5})[.)])[ \t]+(?=\S)")
_FIELD: Final = re.compile(r":(?![: ])[^:\n]{1,100}(?<! ):(?:[ \t]+|$)")
_DIRECTIVE: Final = re.compile(
    r"\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?(?P<name>[\w:.+-]+)[ \t]*::(?:[ \t]+(?P<argument>.*))?"
)
_EXPLICIT: Final = re.compile(r"\.\.(?:[ \t]|$)|__[ \t]")
_RULE: Final = re.compile(r"[=+|-][=+| -]*[=+|-]")
_NOTES: Final = frozenset(
    {
        *("admonition", "attention", "caution", "danger", "error", "hint", "important", "note", "tip", "warning"),
        *("seealso", "topic", "sidebar", "versionadded", "versionchanged", "deprecated", "versionremoved", "rubric"),
    }
)
_CODE: Final = frozenset(
    {"code", "code-block", "sourcecode", "parsed-literal", "literalinclude", "prompt", "doctest", "testcode", "math"}
)
_SHORTEST_UNDERLINE: Final = 4
_SHOWS_CODE: Final = re.compile(
    r"(?:^|[:-])(?:example|run|command-output|program-output|console|ipython|jupyter-execute)$"
)
_CONTAINERS: Final = frozenset(
    {"container", "compound", "epigraph", "highlights", "pull-quote", "glossary", "only", "tab"}
)
_OBJECT: Final = re.compile(
    r"(?:[a-z]+:)?(?:function|method|class|attribute|data|exception|option|envvar|confval|setting|directive|role|"
    r"describe|object|module|property|decorator|staticmethod|classmethod|macro|type|member|var|command|program|term)"
)


def find_blocks(text: str) -> tuple[Block, ...]:
    """Return the blocks of a text. Comments, targets and directives without text are in none of them."""
    return tuple(_Reader(text).blocks())


@dataclass(frozen=True)
class _Line:
    """A line without its indentation. `start` is where its text begins."""

    start: int
    end: int
    indent: int
    text: str


_NOTHING: Final = _Line(0, 0, 0, "")


@dataclass
class _Reader:
    """Reads a text line by line. `_at` is the number of the current line."""

    text: str
    _at: int = 0
    _lines: list[_Line] = field(default_factory=list)
    _levels: list[str] = field(default_factory=list)

    def blocks(self) -> Iterator[Block]:
        start = 0
        for written in self.text.split("\n"):
            stripped = written.strip()
            indent = len(written) - len(written.lstrip())
            self._lines.append(_Line(start + indent, start + indent + len(stripped), indent, stripped))
            start += len(written) + 1
        while self._at < len(self._lines):
            yield from self._next_block(BlockKind.PARAGRAPH, 0)

    def _next_block(self, kind: BlockKind, level: int) -> Iterator[Block]:
        """Read what begins at the current line."""
        line = self._lines[self._at]
        following = self._line(self._at + 1)
        if not line.text:
            self._at += 1
        elif directive := _DIRECTIVE.fullmatch(line.text):
            yield from self._directive(line, directive, level)
        elif _EXPLICIT.match(line.text):
            self._skip_below(line.indent)
        elif line.text == "::" or line.text.startswith(">>> "):
            yield from self._literal(line, level)
        elif self._is_overline(self._at) or (following and _is_underline(line, following)):
            yield from self._heading()
        elif _UNDERLINE.fullmatch(line.text) or _RULE.fullmatch(line.text):
            yield from self._table_or_rule()
        elif _BULLET.match(line.text) or _FIELD.match(line.text):
            yield from self._item(level)
        elif following and following.text and following.indent > line.indent and not line.text.endswith("::"):
            yield from self._definition(level)
        else:
            yield from self._paragraph(kind, level)

    def _heading(self) -> Iterator[Block]:
        over = self._is_overline(self._at)
        title = self._lines[self._at + over]
        style = self._lines[self._at + over + 1].text[0] + ("over" if over else "")
        if style not in self._levels:
            self._levels.append(style)
        yield Block(BlockKind.HEADING, title.start, title.end, self._levels.index(style) + 1)
        self._at += 2 + over

    def _directive(self, line: _Line, directive: re.Match[str], level: int) -> Iterator[Block]:
        name, has_argument = directive["name"].lower(), bool(directive["argument"])
        argument = (line.start + directive.start("argument"), line.start + directive.end("argument"))
        self._at += 1
        if name in _CODE or _SHOWS_CODE.search(name):
            self._skip_options(line.indent)
            yield from self._code_below(line.indent, level)
        elif name in _NOTES:
            if has_argument and name != "admonition":
                yield Block(BlockKind.NOTE, *argument, level)
            self._skip_options(line.indent)
            yield from self._below(line.indent, BlockKind.NOTE, level)
        elif _OBJECT.fullmatch(name) and has_argument:
            yield Block(BlockKind.TERM, *argument, level)
            yield from self._terms_below(line, level)
            self._skip_options(line.indent)
            yield from self._below(line.indent, BlockKind.DESCRIPTION, level)
        elif name in _CONTAINERS:
            self._skip_options(line.indent)
            yield from self._below(line.indent, BlockKind.PARAGRAPH, level)
        else:
            self._skip_below(line.indent, from_next=False)

    def _terms_below(self, line: _Line, level: int) -> Iterator[Block]:
        """Yield further signatures, which are aligned below the first."""
        while (below := self._line(self._at)) and below.text and below.indent > line.indent and below.text[0] != ":":
            yield Block(BlockKind.TERM, below.start, below.end, level)
            self._at += 1

    def _below(self, indent: int, kind: BlockKind, level: int) -> Iterator[Block]:
        """Read the blocks that are indented more than this. Blocks inside of a description are nested in it."""
        while (line := self._line(self._at)) and (not line.text or line.indent > indent):
            nested = level + (kind is BlockKind.DESCRIPTION)
            for block in self._next_block(kind, nested):
                is_part = kind is BlockKind.DESCRIPTION and block.kind is kind and block.level == nested
                yield Block(kind, block.start, block.end, level) if is_part else block

    def _definition(self, level: int) -> Iterator[Block]:
        line = self._lines[self._at]
        yield Block(BlockKind.TERM, line.start, line.end, level)
        self._at += 1
        yield from self._below(line.indent, BlockKind.DESCRIPTION, level)

    def _item(self, level: int) -> Iterator[Block]:
        """Read the first paragraph of a list item or field. What is indented below it follows on its own."""
        first = self._lines[self._at]
        last = self._last_line(lambda each: each.indent > first.indent and not _BULLET.match(each.text))
        yield from self._span(BlockKind.ITEM, first, last, level)
        if last.text.endswith("::"):
            yield from self._code_below(first.indent, level + 1)

    def _paragraph(self, kind: BlockKind, level: int) -> Iterator[Block]:
        first = self._lines[self._at]
        last = self._last_line(lambda each: each.indent >= first.indent)
        yield from self._span(kind, first, last, level)
        if last.text.endswith("::"):
            yield from self._code_below(first.indent, level + (kind is BlockKind.DESCRIPTION))

    def _literal(self, line: _Line, level: int) -> Iterator[Block]:
        """Read a literal block that has no introduction, or an interpreter session."""
        if line.text == "::":
            self._at += 1
            yield from self._code_below(line.indent, level)
            return
        first = self._lines[self._at]
        last = self._last_line(lambda _: True)
        yield from self._span(BlockKind.CODE, first, last, level)

    def _code_below(self, indent: int, level: int) -> Iterator[Block]:
        lines = []
        while (line := self._line(self._at)) and (not line.text or line.indent > indent):
            lines.append(line)
            self._at += 1
        written = [line for line in lines if line.text]
        if written:
            yield Block(BlockKind.CODE, written[0].start, written[-1].end, level)

    def _table_or_rule(self) -> Iterator[Block]:
        """Read the lines of a table up to an empty line. A rule between two paragraphs has none."""
        self._at += 1
        if _UNDERLINE.fullmatch(self._lines[self._at - 1].text) and not (self._line(self._at) or _NOTHING).text:
            return
        while (line := self._line(self._at)) and line.text:
            if not _RULE.fullmatch(line.text):
                yield Block(BlockKind.ROW, line.start, line.end)
            self._at += 1

    def _last_line(self, belongs: Callable[[_Line], bool]) -> _Line:
        """Move behind the lines that belong to the current one, and return the last of them."""
        self._at += 1
        while (line := self._line(self._at)) and line.text and belongs(line) and not _EXPLICIT.match(line.text):
            self._at += 1
        return self._lines[self._at - 1]

    def _skip_options(self, indent: int) -> None:
        while (line := self._line(self._at)) and line.text and line.indent > indent and _FIELD.match(line.text):
            self._at += 1

    def _skip_below(self, indent: int, *, from_next: bool = True) -> None:
        self._at += from_next
        while (line := self._line(self._at)) and (not line.text or line.indent > indent):
            self._at += 1

    def _is_overline(self, at: int) -> bool:
        over, title, under = (self._line(each) or _NOTHING for each in (at, at + 1, at + 2))
        return bool(
            _UNDERLINE.fullmatch(over.text)
            and title.text
            and under.text == over.text
            and len(over.text) > 2  # noqa: PLR2004
            and not _UNDERLINE.fullmatch(title.text)
        )

    def _line(self, at: int) -> _Line | None:
        return self._lines[at] if at < len(self._lines) else None

    def _span(self, kind: BlockKind, first: _Line, last: _Line, level: int) -> Iterator[Block]:
        yield Block(kind, first.start, last.end, level)


def _is_underline(line: _Line, following: _Line) -> bool:
    """Whether the second line underlines the first. A shorter underline is a mistake, but common."""
    if _UNDERLINE.fullmatch(following.text) is None or _UNDERLINE.fullmatch(line.text) is not None:
        return False
    return line.indent == following.indent == 0 and len(following.text) >= min(len(line.text), _SHORTEST_UNDERLINE)
