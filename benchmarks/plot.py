"""Draw lines over two logarithmic axes as SVG."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 480, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 150, 20, 50
_LINE_HEIGHT = 14
_STYLE = "font: 12px sans-serif; fill: #333"


@dataclass(frozen=True)
class Line:
    """A named series of values."""

    name: str
    at: Sequence[float]
    figures: Sequence[float]
    colour: str
    dashes: str = "none"


@dataclass(frozen=True)
class _Axis:
    """Map a range of powers of ten to coordinates."""

    low: int
    high: int
    start: float
    end: float

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float) -> "_Axis":
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return cls(low, max(high, low + 1), start, end)

    def place(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def powers(self) -> Iterator[float]:
        return (10.0**power for power in range(self.low, self.high + 1))


def plot(title: str, x_label: str, y_label: str, lines: Sequence[Line]) -> str:
    x = _Axis.over([value for line in lines for value in line.at], _LEFT, _LEFT + _WIDTH)
    y = _Axis.over([value for line in lines for value in line.figures], _TOP + _HEIGHT, _TOP)
    size = (_LEFT + _WIDTH + _RIGHT, _TOP + _HEIGHT + _BOTTOM)
    shapes = (part for line in lines for part in _draw_line(line, x, y))
    parts = "\n".join((*_frame(x, y, x_label, y_label), *shapes, *_labels(lines, x, y)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}" '
        f'height="{size[1]}" role="img" aria-label="{escape(title)}">\n<title>{escape(title)}</title>\n'
        f'<rect width="{size[0]}" height="{size[1]}" fill="#fff"/>\n{parts}\n</svg>\n'
    )


def _frame(x: _Axis, y: _Axis, x_label: str, y_label: str) -> Iterator[str]:
    for value in x.powers():
        yield _line(x.place(value), y.start, x.place(value), y.end)
        yield _text(x.place(value), y.start + 18, f"{value:,g}")
    for value in y.powers():
        yield _line(x.start, y.place(value), x.end, y.place(value))
        yield _text(x.start - 8, y.place(value) + 4, f"{value:,g}", "end")
    yield _text((x.start + x.end) / 2, y.start + 40, x_label)
    middle = (y.start + y.end) / 2
    yield f'<g transform="rotate(-90 16 {middle:.1f})">{_text(16, middle, y_label)}</g>'


def _draw_line(line: Line, x: _Axis, y: _Axis) -> Iterator[str]:
    places = [(x.place(at), y.place(figure)) for at, figure in zip(line.at, line.figures, strict=True)]
    points = " ".join(f"{across:.1f},{down:.1f}" for across, down in places)
    dashes = f'stroke-dasharray="{line.dashes}"'
    yield f'<polyline points="{points}" fill="none" stroke="{line.colour}" stroke-width="2" {dashes}/>'
    for (across, down), figure in zip(places, line.figures, strict=True):
        circle = f'<circle cx="{across:.1f}" cy="{down:.1f}" r="3" fill="{line.colour}">'
        yield f"{circle}<title>{escape(line.name)}: {figure:.1f}</title></circle>"


def _labels(lines: Sequence[Line], x: _Axis, y: _Axis) -> Iterator[str]:
    """Place the names next to the last points and move overlapping ones down."""
    free = 0.0
    for line in sorted(lines, key=lambda line: y.place(line.figures[-1])):
        free = max(y.place(line.figures[-1]) + 4, free)
        yield _text(x.place(line.at[-1]) + 8, free, f"{line.name}, {line.figures[-1]:.1f}", "start")
        free += _LINE_HEIGHT


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#e4e4e4"/>'


def _text(x: float, y: float, words: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" style="{_STYLE}">{escape(words)}</text>'
