"""Read the lines of a PDF page with their place and font. Does not know paragraphs.

PDFium returns the text of a page in one call, but each question about one character takes a call. So the place and font
of a line come from three characters: the first, the middle and the last.
"""

import re
from bisect import bisect_left
from ctypes import byref, c_double, c_int, create_string_buffer
from dataclasses import dataclass
from typing import Final, NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

# PDFium replaces a hyphen at the end of a line by U+FFFE and leaves the line break out.
_LINE: Final = re.compile(r"[^\r\n\ufffe\u0002]*[^\s\ufffe\u0002][^\r\n\ufffe\u0002]*[\ufffe\u0002]?")
_ASTRAL: Final = re.compile("[\U00010000-\U0010ffff]")
_WORD: Final = re.compile(r"\S+")
_BOLD: Final = re.compile(
    rb"bold|black|heavy|demi|cmbx|cmssbx|cmb\d|sfbx|sfb\d|-b$|[^a-z]bd\b|medi$|(?-i:T[BZ]$)", re.IGNORECASE
)
_MONO: Final = re.compile(
    rb"mono|courier|consol|cmtt|cmsltt|cmitt|cmtcsc|sftt|menlo|typewriter|txtt|pxtt|fira ?code|sourcecode|nimbusmon",
    re.IGNORECASE,
)
_FIXED_PITCH: Final = 1
_FORCE_BOLD: Final = 1 << 18
_CELL_GAP: Final = 1.1
"""Of the font size. In 40 papers and manuals, justified words are closer and the columns of tables are not."""
_WIDE: Final = 0.5
"""Width per character, in font sizes, above which a line may have gaps. Text has about 0.48."""
_NAME_BYTES: Final = 128
_UPRIGHT: Final = 0.02
_UNKNOWN_WIDTH: Final = 0.5
_MOST_CELLS: Final = 40


class Cell(NamedTuple):
    """A part of a line that a wide gap separates from the next part."""

    left: float
    right: float
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text, not yet sanitized.

    `left`, `right` and `base` are in points, along and across the direction of the text; `base` falls from line to
    line. `edge` is the height on the page: 0 at the bottom, 1 at the top. `hyphenated`: a word is broken at the end.
    """

    text: str
    page: int
    left: float
    right: float
    base: float
    size: float
    bold: bool = False
    mono: bool = False
    hyphenated: bool = False
    upright: bool = True
    edge: float = 0.5
    cells: tuple[Cell, ...] = ()


def read_lines(page: pypdfium2.PdfPage, number: int) -> list[Line]:
    """Return the lines of a page in PDFium's reading order, without those outside of the page."""
    textpage = page.get_textpage()
    try:
        return _PageReader(textpage, page.get_bbox(), number).lines()
    finally:
        textpage.close()


class _PageReader:
    def __init__(self, textpage: pypdfium2.PdfTextPage, box: tuple[float, float, float, float], number: int) -> None:
        self._textpage = textpage
        self._page = textpage.raw
        self._number = number
        self._box = box
        self._astral: list[int] = []
        self._fonts: dict[bytes, tuple[bool, bool]] = {}
        self._name = create_string_buffer(_NAME_BYTES)
        self._flags = c_int()
        self._matrix = pdfium.FS_MATRIX()
        self._x, self._y, self._left, self._right = c_double(), c_double(), c_double(), c_double()
        self._to_flags, self._to_matrix = byref(self._flags), byref(self._matrix)
        self._to_origin = byref(self._x), byref(self._y)
        self._to_sides = byref(self._left), byref(self._right), byref(c_double()), byref(c_double())

    def lines(self) -> list[Line]:
        text = self._textpage.get_text_range()
        self._astral = [match.start() for match in _ASTRAL.finditer(text)]
        lines = (self._line(match[0], match.start()) for match in _LINE.finditer(text))
        return [line for line in lines if line is not None]

    def _line(self, raw: str, at: int) -> Line | None:
        hyphenated = raw[-1] in "\ufffe\x02"
        raw = raw[:-1].rstrip() if hyphenated else raw.rstrip()
        text = " ".join(raw.split())
        if not text:
            return None
        start = len(raw) - len(raw.lstrip())
        first = self._char(at + start)
        middle = self._char(at + _letter_near(raw, (start + len(raw)) // 2))
        last = self._char(at + len(raw) - 1)
        if first < 0 or last < 0 or middle < 0:
            return None
        fonts = [self._font(char) for char in (first, middle, last)]
        mono = all(mono for _, mono in fonts)
        sizes = sorted(
            pdfium.FPDFText_GetFontSize(self._page, char)
            for char, font in zip((first, middle, last), fonts, strict=True)
            if mono or not font[1]  # code inside of text is often smaller
        )
        pdfium.FPDFText_GetMatrix(self._page, middle, self._to_matrix)
        a, b, scale = self._matrix.a, self._matrix.b, (self._matrix.c**2 + self._matrix.d**2) ** 0.5
        size = sizes[len(sizes) // 2] * scale
        pdfium.FPDFText_GetCharOrigin(self._page, first, *self._to_origin)
        x = self._x.value
        # The first character may be a raised number.
        pdfium.FPDFText_GetCharOrigin(self._page, middle, *self._to_origin)
        y = self._y.value
        if not self._is_inside(x, y):
            return None
        upright = a > 0 and abs(b) < _UPRIGHT * a
        left, base = x, y
        if upright:
            right = max(self._right_of(last), left)
        else:
            length = (a * a + b * b) ** 0.5 or 1.0
            x = self._x.value
            left, base = (x * a + y * b) / length, (y * a - x * b) / length
            right = left + len(text) * size * _UNKNOWN_WIDTH
        wide = upright and not mono and right - left > _WIDE * size * len(text)
        return Line(
            text=text,
            page=self._number,
            left=left,
            right=right,
            base=base,
            size=size,
            bold=all(bold for bold, _ in fonts),
            mono=mono,
            hyphenated=hyphenated,
            upright=upright,
            edge=(y - self._box[1]) / max(self._box[3] - self._box[1], 1.0),
            cells=self._cells(raw, at, size) if wide else (),
        )

    def _char(self, at: int) -> int:
        """Return PDFium's index of a character of the text. PDFium counts UTF-16 units."""
        return int(pdfium.FPDFText_GetCharIndexFromTextIndex(self._page, at + bisect_left(self._astral, at)))

    def _is_inside(self, x: float, y: float) -> bool:
        left, bottom, right, top = self._box
        return left - 1 <= x <= right + 1 and bottom - 1 <= y <= top + 1

    def _font(self, char: int) -> tuple[bool, bool]:
        """Whether the font of a character is bold, and whether it is monospaced."""
        pdfium.FPDFText_GetFontInfo(self._page, char, self._name, _NAME_BYTES, self._to_flags)
        name = self._name.value
        if name not in self._fonts:
            bold = _BOLD.search(name) is not None or bool(self._flags.value & _FORCE_BOLD)
            self._fonts[name] = (bold, _MONO.search(name) is not None or bool(self._flags.value & _FIXED_PITCH))
        return self._fonts[name]

    def _right_of(self, char: int) -> float:
        return self._sides(char)[1]

    def _sides(self, char: int) -> tuple[float, float]:
        pdfium.FPDFText_GetCharBox(self._page, char, *self._to_sides)
        return self._left.value, self._right.value

    def _cells(self, raw: str, at: int, size: float) -> tuple[Cell, ...]:
        """Split a line at wide gaps. `at` is the place of the line in the text of the page."""
        cells: list[Cell] = []
        for word in _WORD.finditer(raw):
            left = self._sides(self._char(at + word.start()))[0]
            right = self._right_of(self._char(at + word.end() - 1))
            if cells and left - cells[-1].right <= _CELL_GAP * size:
                cells[-1] = Cell(cells[-1].left, right, f"{cells[-1].text} {word[0]}")
            else:
                cells.append(Cell(left, right, word[0]))
        return tuple(cells) if 1 < len(cells) <= _MOST_CELLS else ()


def _letter_near(text: str, at: int) -> int:
    """Return the first place from `at` on that is not a space."""
    while at < len(text) - 1 and text[at].isspace():
        at += 1
    return at
