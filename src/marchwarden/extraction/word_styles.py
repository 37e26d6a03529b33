"""Styles and numbering of a Word document: which paragraphs are headings or list items, and how items are numbered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import lxml.etree

from marchwarden.extraction.safe_xml import attribute

_LONGEST_CHAIN: Final = 20
_LEVELS: Final = 9
_BODY_LEVEL: Final = 9
_ROMAN: Final = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
                 (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_LARGEST_ROMAN: Final = 4_000
_BULLET: Final = "-"


@dataclass(frozen=True)
class ParagraphFormat:
    """What a style or a paragraph says. `None` and empty: nothing. A `list_id` of `0` ends the list of the style."""

    name: str = ""
    outline: int | None = None
    list_id: str = ""
    list_level: int | None = None

    @property
    def heading_level(self) -> int:
        """The level of a heading, or 0."""
        if self.name == "title":
            return 1
        if self.outline is not None:
            return self.outline + 1 if self.outline < _BODY_LEVEL else 0
        number = self.name.removeprefix("heading ")
        return int(number) if number != self.name and number.isdecimal() and len(number) == 1 else 0

    @property
    def is_item(self) -> bool:
        return self.list_id not in {"", "0"}

    def over(self, other: "ParagraphFormat") -> "ParagraphFormat":
        """Return both formats, where this one has precedence."""
        return ParagraphFormat(
            name=self.name or other.name,
            outline=other.outline if self.outline is None else self.outline,
            list_id=self.list_id or other.list_id,
            list_level=other.list_level if self.list_level is None else self.list_level,
        )


class Styles:
    """The paragraph styles of a document."""

    def __init__(self, root: lxml.etree._Element | None) -> None:
        self._styles: dict[str, tuple[ParagraphFormat, str]] = {}
        self._default = ""
        for style in root.iterfind("{*}style") if root is not None else ():
            if attribute(style, "type") in {"", "paragraph"}:
                self._add(style)

    def format_of(self, paragraph: lxml.etree._Element) -> ParagraphFormat:
        """Return the format of a paragraph, including its style and the styles that this one is based on."""
        properties = paragraph.find("{*}pPr")
        found = read_format(properties)
        style = _value(properties, "pStyle") or self._default
        for _ in range(_LONGEST_CHAIN):
            format_, based_on = self._styles.get(style, (ParagraphFormat(), ""))
            found = found.over(format_)
            style = based_on
        return found

    def _add(self, style: lxml.etree._Element) -> None:
        id_ = attribute(style, "styleId")
        name = _value(style, "name").lower()
        format_ = ParagraphFormat(name=name).over(read_format(style.find("{*}pPr")))
        self._styles[id_] = (format_, _value(style, "basedOn"))
        if attribute(style, "default") in {"1", "true"}:
            self._default = id_


def read_format(properties: lxml.etree._Element | None) -> ParagraphFormat:
    """Read paragraph properties, without their style."""
    if properties is None:
        return ParagraphFormat()
    numbering = properties.find("{*}numPr")
    return ParagraphFormat(
        outline=_digit(_value(properties, "outlineLvl")),
        list_id=_value(numbering, "numId"),
        list_level=_digit(_value(numbering, "ilvl")),
    )


@dataclass
class Numbering:
    """The lists of a document. Counts their items in the order in which they are asked for."""

    formats: Mapping[tuple[str, int], tuple[str, str]] = field(default_factory=dict)
    """Format and pattern, such as `decimal` and `%1.%2.`, by list and level."""
    _counts: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def read(cls, root: lxml.etree._Element | None) -> "Numbering":
        if root is None:
            return cls()
        lists = {
            attribute(each, "abstractNumId"): {
                attribute(level, "ilvl"): (_value(level, "numFmt"), _value(level, "lvlText"))
                for level in each.iterfind("{*}lvl")
            }
            for each in root.iterfind("{*}abstractNum")
        }
        return cls(
            {
                (attribute(number, "numId"), int(level)): format_
                for number in root.iterfind("{*}num")
                for level, format_ in lists.get(_value(number, "abstractNumId"), {}).items()
                if level.isdecimal()
            }
        )

    def next_marker(self, list_id: str, level: int) -> str:
        """Return the bullet or number of the next item of a list."""
        format_, pattern = self.formats.get((list_id, level), ("bullet", ""))
        counts = self._counts.setdefault(list_id, [0] * _LEVELS)
        counts[level] += 1
        counts[level + 1 :] = [0] * (_LEVELS - level - 1)
        if format_ in {"bullet", "none", ""} or not pattern:
            return _BULLET
        for at in range(_LEVELS):
            numbered = _numbered(max(counts[at], 1), self.formats.get((list_id, at), ("decimal", ""))[0])
            pattern = pattern.replace(f"%{at + 1}", numbered)
        return pattern.strip() or _BULLET


def _numbered(number: int, format_: str) -> str:
    match format_:
        case "lowerLetter" | "upperLetter":
            letters = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 % 3 + 1)
            return letters.upper() if format_ == "upperLetter" else letters
        case "lowerRoman" | "upperRoman" if number < _LARGEST_ROMAN:
            letters = _roman(number)
            return letters.upper() if format_ == "upperRoman" else letters
    return str(number)


def _roman(number: int) -> str:
    letters = ""
    for value, letter in _ROMAN:
        letters += letter * (number // value)
        number %= value
    return letters


def _value(element: lxml.etree._Element | None, name: str) -> str:
    """Return the value of a child element."""
    child = element.find(f"{{*}}{name}") if element is not None else None
    return "" if child is None else attribute(child, "val")


def _digit(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) == 1 else None
