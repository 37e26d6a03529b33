"""Bar charts as inline SVG. Colours come from the style sheet, by class."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from marchwarden.reports.html import Markup
from marchwarden.ui.html import element

_WIDTH: Final = 760
_HEIGHT: Final = 240
_LEFT: Final = 84
_BOTTOM: Final = 30
_TOP: Final = 10
_MAX_LABELS: Final = 8
_MAX_BAR_WIDTH: Final = 46


@dataclass(frozen=True)
class Bar:
    """One value and its label on the axis."""

    name: str
    value: float


def bar_chart(bars: Sequence[Bar], title: str, format_value: Callable[[float], str]) -> Markup:
    steps = ticks(max((bar.value for bar in bars), default=0.0))
    top = steps[-1] or 1.0
    pitch = (_WIDTH - _LEFT) / max(len(bars), 1)
    return element(
        "svg",
        *(_grid_line(value, top, format_value) for value in steps),
        *(_bar(at, bar, pitch, top, format_value) for at, bar in enumerate(bars)),
        *_labels(bars, pitch),
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=title,
        class_="plot",
    )


def ticks(highest: float) -> list[float]:
    """Return about four round values from zero to at least `highest`."""
    if highest <= 0:
        return [0.0]
    rough = highest / 4
    power = 10 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    return [round(step * number, 12) for number in range(math.ceil(highest / step) + 1)]


def _scale(value: float, top: float) -> float:
    return (_HEIGHT - _BOTTOM - _TOP) * value / top


def _bar(at: int, bar: Bar, pitch: float, top: float, format_value: Callable[[float], str]) -> Markup:
    width = min(max(pitch * 0.72, 1.0), _MAX_BAR_WIDTH)
    height = max(_scale(bar.value, top), 1.5) if bar.value else 0.0
    left = _LEFT + pitch * at + (pitch - width) / 2
    return element(
        "rect",
        element("title", f"{bar.name}: {format_value(bar.value)}"),
        x=f"{left:.1f}",
        y=f"{_HEIGHT - _BOTTOM - height:.1f}",
        width=f"{width:.1f}",
        height=f"{height:.1f}",
        rx=2,
        class_="bar",
    )


def _grid_line(value: float, top: float, format_value: Callable[[float], str]) -> Markup:
    y = f"{_HEIGHT - _BOTTOM - _scale(value, top):.1f}"
    rule = element("line", x1=_LEFT, x2=_WIDTH, y1=y, y2=y, class_="rule")
    label = element("text", format_value(value), x=_LEFT - 10, y=y, text_anchor="end", dominant_baseline="middle")
    return element("g", rule, label)


def _labels(bars: Sequence[Bar], pitch: float) -> list[Markup]:
    """Label as many bars as there is room for, always including the last."""
    every = max(math.ceil(len(bars) / _MAX_LABELS), 1)
    return [
        element("text", bar.name, x=f"{_LEFT + pitch * (at + 0.5):.1f}", y=_HEIGHT - 8, text_anchor="middle")
        for at, bar in enumerate(bars)
        if (len(bars) - 1 - at) % every == 0
    ]
