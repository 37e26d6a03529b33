"""Draw the reliability curve as SVG: confidence on the x axis, accuracy on the y axis, perfect calibration diagonal."""

from collections.abc import Iterator, Sequence
from typing import Final

from marchwarden.evaluation.calibration import Bin

_SIDE: Final = 320
_MARGIN: Final = 44
_SIZE: Final = _SIDE + 2 * _MARGIN
_STYLE: Final = "font: 12px sans-serif; fill: #333"


def reliability_curve(bins: Sequence[Bin]) -> str:
    """Return the SVG. Each bin is a circle sized by its count; the bar to the diagonal is its error."""
    parts = "\n".join((*_frame(), *_curve(bins)))
    label = "Reliability curve: how often answers of each confidence were right"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SIZE} {_SIZE}" width="{_SIZE}" '
        f'height="{_SIZE}" role="img" aria-label="{label}">\n<title>{label}</title>\n{parts}\n</svg>'
    )


def _frame() -> Iterator[str]:
    yield f'<rect width="{_SIZE}" height="{_SIZE}" fill="#fff"/>'
    for tenth in range(0, 11, 2):
        share = tenth / 10
        yield _line(share, 0, share, 1, "#e4e4e4")
        yield _line(0, share, 1, share, "#e4e4e4")
        yield _text(_x(share), _y(0) + 16, f"{share:.1f}")
        yield _text(_x(0) - 18, _y(share) + 4, f"{share:.1f}")
    yield _line(0, 0, 1, 1, "#999", "4 4")
    yield _text(_x(0.5), _SIZE - 8, "confidence")
    yield f'<g transform="rotate(-90 14 {_y(0.5):.1f})">{_text(14, _y(0.5), "right")}</g>'


def _curve(bins: Sequence[Bin]) -> Iterator[str]:
    most = max((each.count for each in bins), default=1)
    for each in bins:
        yield _line(each.confidence, each.confidence, each.confidence, each.right, "#d98880")
    points = " ".join(f"{_x(each.confidence):.1f},{_y(each.right):.1f}" for each in bins)
    yield f'<polyline points="{points}" fill="none" stroke="#1f618d" stroke-width="2"/>'
    for each in bins:
        radius = 3 + 9 * (each.count / most) ** 0.5
        label = f"{each.count} answers, confidence {each.confidence:.2f}, right {each.right:.2f}"
        yield (
            f'<circle cx="{_x(each.confidence):.1f}" cy="{_y(each.right):.1f}" r="{radius:.1f}" fill="#2980b9" '
            f'fill-opacity="0.7"><title>{label}</title></circle>'
        )


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, dashes: str = "none") -> str:
    ends = f'x1="{_x(x1):.1f}" y1="{_y(y1):.1f}" x2="{_x(x2):.1f}" y2="{_y(y2):.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-dasharray="{dashes}"/>'


def _text(x: float, y: float, words: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" style="{_STYLE}">{words}</text>'


def _x(share: float) -> float:
    return _MARGIN + share * _SIDE


def _y(share: float) -> float:
    return _MARGIN + (1 - share) * _SIDE
