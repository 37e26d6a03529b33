"""Group the lines of a PDF into paragraphs, list items, captions, code and table rows. Does not know headings' levels.

The strongest sign of a new paragraph: the first word of a line would have fitted at the end of the line above.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from marchwarden.core.blocks import BlockKind
from marchwarden.extraction.pdf_lines import Line
from marchwarden.extraction.pdf_style import Style

_BULLETS: Final = "•◦▪▫‣⁃∙·●○■□◆◇➢➤➔✓✔❖\uf0b7\uf0a7\uf0d8–—*-"
_BULLET: Final = re.compile(rf"[{_BULLETS}](?:\s+|$)")
_LABEL: Final = re.compile(
    r"(?:\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})\)|(?:\d{1,3}|[a-z]|[ivx]{1,5})\.|\[\d{1,3}\])(?:\s+|$)|"
    r"（\d{1,3}）|\d{1,2}[．、]|[一二三四五六七八九十]{1,3}、"
)
_MARK: Final = re.compile(r"\d{1,3}|[*∗†‡§¶]{1,3}")
_CAPTION: Final = re.compile(
    r"(?:supplementary\s+)?(?:fig(?:ure|ura|\.)?|tab(?:le|elle|leau|la|\.)?|abb(?:ildung|\.)|listing|algorithm|chart|"
    r"exhibit|scheme|plate|рис(?:унок|\.)|таблица|图|表)\s*(?:[A-Z]|\d{1,3})(?:[.\-–]\d{1,3}){0,2}\s*(?:[.:|–—]|$)",
    re.IGNORECASE,
)
_FOOTNOTE: Final = re.compile(r"(?:\d{1,3}|[*∗†‡§¶]{1,3})\s?(?=[^\W\d_])")
_DOTS: Final = ("....", ". . . .", "…………", "________")
_NO_SPACES: Final = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
_SENTENCE_END: Final = re.compile(r"[.!?:;。！？।؟][\"'”’»)\]]*$")
_OPEN_END: Final = re.compile(r"[^\W\d_]$|,$|-$")
_SAME_HEIGHT: Final = 0.35
_BESIDE: Final = 2.0
_SPACE: Final = 0.12
_INITIAL: Final = 1.6
_FARTHER: Final = 1.25
_INDENTED: Final = 0.8
_SIZE_RATIO: Final = 0.87
_SAME_SIZE: Final = 0.93
_SLACK: Final = 0.7
_NOTE_SIZE: Final = 0.93
_NOTE_EDGE: Final = 0.45
_MOST_BETWEEN: Final = 8


@dataclass
class Group:
    """Lines that belong together, and their role. `gap`: the distance to the line above, in usual line distances."""

    lines: list[Line]
    kind: BlockKind = BlockKind.PARAGRAPH
    gap: float = 0.0
    level: int = 0
    cells: tuple[str, ...] = field(default=())

    @property
    def first(self) -> Line:
        return self.lines[0]

    @property
    def last(self) -> Line:
        return self.lines[-1]


def group(lines: Sequence[Line], style: Style, rows: Mapping[int, Group | None]) -> list[Group]:
    """Group lines. `rows`: the groups of those lines, by index, that are already known to be table rows.

    The lines of a row after its first have no group of their own there.
    """
    groups: list[Group] = []
    for at, line in enumerate(lines):
        above = lines[at - 1] if at else None
        if at in rows:
            row = rows[at]
            groups += [row] if row else []
        elif groups and at - 1 not in rows and _is_beside(groups[-1].last, line):
            groups[-1].lines[-1] = _merged(groups[-1].last, line)
        elif groups and at - 1 not in rows and _continues(groups[-1], line, style):
            groups[-1].lines.append(line)
        else:
            groups.append(Group([line], gap=_gap(above, line, style)))
    for each in groups:
        if not each.cells:
            each.kind = _kind(each, style)
    return list(_join_jumps(groups, style))


def _gap(above: Line | None, line: Line, style: Style) -> float:
    """Return the distance to the line above. The first line of a page or column is far from everything."""
    if above is None or above.page != line.page or above.base <= line.base:
        return _MOST_BETWEEN
    return (above.base - line.base) / style.leading(line.size)


def _is_beside(left: Line, right: Line) -> bool:
    """Whether PDFium broke one line in two: at a raised number, or between the mark and the text of a footnote."""
    if left.page != right.page or not (left.upright and right.upright) or left.hyphenated:
        return False
    near = -_SAME_HEIGHT * right.size < right.left - left.right < _BESIDE * right.size
    height = _SAME_HEIGHT * right.size
    if _MARK.fullmatch(left.text):
        height = right.size
    elif _is_initial(left, right):
        height = left.size
    return near and abs(left.base - right.base) < height


def _is_initial(left: Line, right: Line) -> bool:
    """Whether the left line is the large first letter of a chapter, and the right line the rest of its word."""
    return len(left.text) == 1 and left.text.isalpha() and left.size > _INITIAL * right.size


def _merged(left: Line, right: Line) -> Line:
    text = f"{left.text} {right.text}" if right.left - left.right > _SPACE * right.size else left.text + right.text
    initial = _is_initial(left, right)
    if initial:
        text = left.text + right.text
    mark = initial or _MARK.fullmatch(left.text) is not None
    return replace(
        right,
        text=text,
        left=left.left,
        base=right.base if mark else left.base,
        bold=left.bold and right.bold,
        mono=left.mono and right.mono,
        cells=(),
    )


def _continues(open_group: Group, line: Line, style: Style) -> bool:
    above = open_group.last
    if line.page != above.page or line.upright != above.upright or line.mono != above.mono:
        return False
    if not _SAME_HEIGHT * line.size < above.base - line.base <= _farthest(above, line, style):
        return False
    if line.mono and not style.mono:
        return True
    return _alike(above, line) and not _CAPTION.match(line.text) and _continues_text(open_group, line, style)


def _continues_text(open_group: Group, line: Line, style: Style) -> bool:
    above = open_group.last
    if _starts_item(open_group, line, style):
        return False
    if _BULLET.fullmatch(above.text) or _LABEL.fullmatch(above.text):
        return True
    if _has_dots(above.text) or _has_dots(line.text):
        return False
    if _would_fit(above, line, style):
        goes_on = line.text[0].islower() or _NO_SPACES.match(line.text) is not None
        same_font = line.bold == above.bold and _alike(above, line, _SAME_SIZE)
        return goes_on and same_font and not _SENTENCE_END.search(above.text)
    return not _changes_indent(open_group, line)


def _farthest(above: Line, line: Line, style: Style) -> float:
    leading = max(style.leading(line.size), style.leading(above.size))
    return leading * (2.5 if line.mono and above.mono and not style.mono else _FARTHER)


def _alike(above: Line, line: Line, ratio: float = _SIZE_RATIO) -> bool:
    smaller, larger = sorted((above.size, line.size))
    return smaller >= larger * ratio


def _would_fit(above: Line, line: Line, style: Style) -> bool:
    """Whether the first word of a line would have fitted at the end of the line above."""
    if above.hyphenated:
        return False
    word = 1 if _NO_SPACES.match(line.text) else len(line.text.split(" ", 1)[0]) + 1
    width = word * max(line.right - line.left, 0.0) / len(line.text)
    edge = max(style.right_edge(above), line.right)
    return above.right + width < edge - _SLACK * line.size


def _starts_item(open_group: Group, line: Line, style: Style) -> bool:
    if _BULLET.match(line.text):
        bullet = line.text[0]
        return bullet not in "–—*-" or open_group.first.text[0] == bullet or _ends(open_group.last, line, style)
    return _LABEL.match(line.text) is not None and _ends(open_group.last, line, style)


def _ends(above: Line, line: Line, style: Style) -> bool:
    return _SENTENCE_END.search(above.text) is not None or _would_fit(above, line, style)


def _changes_indent(open_group: Group, line: Line) -> bool:
    step = _INDENTED * line.size
    above = open_group.last
    if len(open_group.lines) == 1:
        indented = line.left > above.left + step
        return indented and _SENTENCE_END.search(above.text) is not None and not is_label(open_group.first.text)
    return abs(line.left - above.left) > step


def is_label(text: str) -> bool:
    """Whether a text starts with a bullet or the label of a list item."""
    return bool(_BULLET.match(text) or _LABEL.match(text))


def _has_dots(text: str) -> bool:
    """Whether dots or a rule lead to something: in a table of contents, or in a form."""
    return any(dots in text for dots in _DOTS)


def _kind(each: Group, style: Style) -> BlockKind:
    text = each.first.text
    if all(line.mono for line in each.lines) and not style.mono:
        return BlockKind.CODE
    if _CAPTION.match(text):
        return BlockKind.CAPTION
    small = each.first.size < style.size * _NOTE_SIZE
    if small and each.first.edge < _NOTE_EDGE and _FOOTNOTE.match(text):
        return BlockKind.NOTE
    if is_label(text) or _has_dots(text):
        return BlockKind.ITEM
    return BlockKind.PARAGRAPH


def _join_jumps(groups: Iterable[Group], style: Style) -> Iterable[Group]:
    """Join paragraphs that go on in the next column or on the next page. Notes and captions may stand between."""
    joined: list[Group] = []
    open_at: int | None = None
    for each in groups:
        if open_at is not None and _goes_on(joined[open_at], each, style):
            joined[open_at].lines += each.lines
            continue
        joined.append(each)
        if each.kind in {BlockKind.PARAGRAPH, BlockKind.ITEM} and _is_body(each, style):
            open_at = None if _SENTENCE_END.search(each.last.text) else len(joined) - 1
        elif open_at is not None and len(joined) - open_at > _MOST_BETWEEN:
            open_at = None
    return joined


def _is_body(each: Group, style: Style) -> bool:
    return each.first.upright and style.size * _SIZE_RATIO < each.first.size < style.size / _SIZE_RATIO


def _goes_on(open_group: Group, each: Group, style: Style) -> bool:
    above, line = open_group.last, each.first
    jumps = line.page == above.page + 1 or (line.page == above.page and line.base > above.base)
    if not jumps or each.kind is not BlockKind.PARAGRAPH or not _is_body(each, style) or above.bold != line.bold:
        return False
    if above.hyphenated or line.text[0].islower():
        return True
    full = above.right > style.right_edge(above) - 2 * above.size
    return full and len(open_group.lines) > 1 and len(each.lines) > 1 and _OPEN_END.search(above.text) is not None
