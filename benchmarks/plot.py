"""Lines over two logarithmic axes as an SVG picture, drawn by hand. Knows nothing of what they mean."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

_WIDE, _HIGH = 480, 300
_LEFT, _RIGHT, _TOP, _BELOW = 70, 150, 20, 50
_LETTERS = 14
_STYLE = "font: 12px sans-serif; fill: #333"


@dataclass(frozen=True)
class Line:
    """Figures above the numbers they were measured at."""

    name: str
    at: Sequence[float]
    figures: Sequence[float]
    colour: str
    dashes: str = "none"


@dataclass(frozen=True)
class _Axis:
    """A span of powers of ten laid over a stretch of the picture."""

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


def plot(title: str, along: str, up: str, lines: Sequence[Line]) -> str:
    x = _Axis.over([value for line in lines for value in line.at], _LEFT, _LEFT + _WIDE)
    y = _Axis.over([value for line in lines for value in line.figures], _TOP + _HIGH, _TOP)
    whole = (_LEFT + _WIDE + _RIGHT, _TOP + _HIGH + _BELOW)
    drawn = (part for line in lines for part in _drawn(line, x, y))
    parts = "\n".join((*_frame(x, y, along, up), *drawn, *_labels(lines, x, y)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole[0]} {whole[1]}" width="{whole[0]}" '
        f'height="{whole[1]}" role="img" aria-label="{escape(title)}">\n<title>{escape(title)}</title>\n'
        f'<rect width="{whole[0]}" height="{whole[1]}" fill="#fff"/>\n{parts}\n</svg>\n'
    )


def _frame(x: _Axis, y: _Axis, along: str, up: str) -> Iterator[str]:
    for value in x.powers():
        yield _line(x.place(value), y.start, x.place(value), y.end)
        yield _text(x.place(value), y.start + 18, f"{value:,g}")
    for value in y.powers():
        yield _line(x.start, y.place(value), x.end, y.place(value))
        yield _text(x.start - 8, y.place(value) + 4, f"{value:,g}", "end")
    yield _text((x.start + x.end) / 2, y.start + 40, along)
    middle = (y.start + y.end) / 2
    yield f'<g transform="rotate(-90 16 {middle:.1f})">{_text(16, middle, up)}</g>'


def _drawn(line: Line, x: _Axis, y: _Axis) -> Iterator[str]:
    places = [(x.place(at), y.place(figure)) for at, figure in zip(line.at, line.figures, strict=True)]
    points = " ".join(f"{across:.1f},{down:.1f}" for across, down in places)
    dashes = f'stroke-dasharray="{line.dashes}"'
    yield f'<polyline points="{points}" fill="none" stroke="{line.colour}" stroke-width="2" {dashes}/>'
    for (across, down), figure in zip(places, line.figures, strict=True):
        circle = f'<circle cx="{across:.1f}" cy="{down:.1f}" r="3" fill="{line.colour}">'
        yield f"{circle}<title>{escape(line.name)}: {figure:.1f}</title></circle>"


def _labels(lines: Sequence[Line], x: _Axis, y: _Axis) -> Iterator[str]:
    """The names behind the last points, those that would cover each other pushed down."""
    free = 0.0
    for line in sorted(lines, key=lambda line: y.place(line.figures[-1])):
        free = max(y.place(line.figures[-1]) + 4, free)
        yield _text(x.place(line.at[-1]) + 8, free, f"{line.name}, {line.figures[-1]:.1f}", "start")
        free += _LETTERS


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#e4e4e4"/>'


def _text(x: float, y: float, words: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" style="{_STYLE}">{escape(words)}</text>'
