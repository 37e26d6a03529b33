"""Find the headings of a PDF by size, weight and outline, and give them levels."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import pypdfium2

from marchwarden.core.blocks import BlockKind
from marchwarden.extraction.pdf_groups import Group
from marchwarden.extraction.pdf_style import Style, rounded
from marchwarden.extraction.pdf_text import join_lines

_LARGE: Final = 1.12
_LARGER: Final = 1.04
_HARDLY_SMALLER: Final = 0.95
_LONGEST: Final = 160
_MOST_LINES: Final = 3
_MOST_WORDS: Final = 14
_APART: Final = 1.15
_MAX_OUTLINE: Final = 5_000
_MAX_DEPTH: Final = 8
_NUMBER: Final = re.compile(
    r"(?:chapter|section|part|appendix|kapitel|teil)?\s*((?:\d{1,3}|[A-Z])(?:\.\d{1,3})*)\.?\s+(?=\S)", re.IGNORECASE
)
_TEXT: Final = frozenset({BlockKind.PARAGRAPH, BlockKind.ITEM})
_NOT_A_TITLE: Final = re.compile(r"[,;]$|…")
_LETTERS: Final = re.compile(r"[^\W\d_]{2}")
_WORDS: Final = re.compile(r"\w+")

Outline = Mapping[int, Mapping[str, int]]
"""The level of each title in the outline, by page."""


def read_outline(document: pypdfium2.PdfDocument) -> Outline:
    """Return the outline of a document. A broken one counts as none."""
    outline: defaultdict[int, dict[str, int]] = defaultdict(dict)
    try:
        for count, item in enumerate(document.get_toc(max_depth=_MAX_DEPTH)):
            if count == _MAX_OUTLINE:
                break
            target = item.get_dest()
            page = target.get_index() if target else None
            if page is not None:
                outline[page].setdefault(_plain(item.get_title()), item.level + 1)
    except (pypdfium2.PdfiumError, ValueError, UnicodeDecodeError):
        return {}
    return outline


def mark_headings(groups: Sequence[Group], style: Style, outline: Outline) -> list[Group]:
    """Turn groups into headings, join those that are one heading on several lines, and set the levels."""
    marked: list[Group] = []
    for each in groups:
        below_caption = bool(marked) and marked[-1].kind is BlockKind.CAPTION
        if each.kind in _TEXT and not below_caption and _is_heading(each, style, outline):
            each.kind = BlockKind.HEADING
            if marked and _is_one_heading(marked[-1], each, outline):
                marked[-1].lines += each.lines
                continue
        marked.append(each)
    _unmark_title_page(marked, outline)
    _set_levels([each for each in marked if each.kind is BlockKind.HEADING], outline)
    return marked


def _unmark_title_page(groups: Sequence[Group], outline: Outline) -> None:
    """Turn authors and dates back into paragraphs: large text on the first page that looks like no later heading."""
    headings = [each for each in groups if each.kind is BlockKind.HEADING]
    later = {_style_of(each) for each in headings if each.first.page > 0}
    largest = max((_style_of(each) for each in headings), default=None)
    for each in headings:
        plain = not each.first.bold and not _known_level(each, outline)
        if later and plain and _style_of(each) not in later and _style_of(each) != largest:
            each.kind = BlockKind.PARAGRAPH


def _is_heading(each: Group, style: Style, outline: Outline) -> bool:
    line, text = each.first, join_lines(each.lines)
    if len(text) > _LONGEST or len(each.lines) > _MOST_LINES or not _LETTERS.search(text) or not line.upright:
        return False
    if _plain(text) in outline.get(line.page, {}):
        return True
    if not _reads_like_a_title(each, text):
        return False
    heavier = line.bold and not style.bold
    if line.size >= style.size * (_LARGER if heavier else _LARGE):
        return True
    capitals = text.isupper() and len(text) > len("A. B")
    return (heavier or capitals) and line.size >= style.size * _HARDLY_SMALLER and each.gap >= _APART


def _reads_like_a_title(each: Group, text: str) -> bool:
    numbered = _NUMBER.match(text) is not None
    if each.kind is BlockKind.ITEM and not numbered:
        return False
    if each.first.cells and each.first.cells[-1].text.isdigit():
        return False  # in a table of contents
    if _NOT_A_TITLE.search(text) or (text.endswith(".") and not numbered):
        return False
    return not text[0].islower() and len(_WORDS.findall(text)) <= _MOST_WORDS


def _is_one_heading(above: Group, each: Group, outline: Outline) -> bool:
    """Whether a heading goes on in a group of the same style right below it."""
    if above.kind is not BlockKind.HEADING or each.gap > _APART or _NUMBER.match(each.first.text):
        return False
    if _plain(join_lines(each.lines)) in outline.get(each.first.page, {}):
        return False
    return _style_of(above) == _style_of(each) and len(above.lines) < _MOST_LINES


def _style_of(each: Group) -> tuple[float, bool]:
    return rounded(each.first.size), each.first.bold


def _set_levels(headings: Sequence[Group], outline: Outline) -> None:
    """Set the level of a heading: by the outline, its number, or the usual level of headings that look like it."""
    known = {id(each): _known_level(each, outline) for each in headings}
    levels: dict[tuple[float, bool], int] = {}
    above = 0
    for style in sorted({_style_of(each) for each in headings}, reverse=True):
        alike = [level for each in headings if _style_of(each) == style and (level := known[id(each)])]
        above = Counter(alike).most_common(1)[0][0] if alike else min(above + 1, _MAX_DEPTH)
        levels[style] = above
    for each in headings:
        each.level = known[id(each)] or levels[_style_of(each)]


def _known_level(each: Group, outline: Outline) -> int:
    text = join_lines(each.lines)
    if level := outline.get(each.first.page, {}).get(_plain(text)):
        return level
    number = _NUMBER.match(text)
    return number[1].count(".") + 1 if number and number[1][0].isdigit() else 0


def _plain(title: str) -> str:
    """Return the words of a title without its number, for comparison."""
    return " ".join(_WORDS.findall(_NUMBER.sub("", title.strip(), count=1).casefold()))
