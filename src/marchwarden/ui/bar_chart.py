"""Plotting: bars over days, as inline SVG. Colours come from the style sheet, by class."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from marchwarden.reports.html import Markup
from marchwarden.ui.html import element

_WIDE: Final = 760
_HIGH: Final = 240
_LEFT: Final = 84
_BOTTOM: Final = 30
_TOP: Final = 10
_LABELS: Final = 8
_WIDEST_BAR: Final = 46


@dataclass(frozen=True)
class Bar:
    """One value and the name of its place on the axis."""

    name: str
    value: float


def bars(shown: Sequence[Bar], title: str, written: Callable[[float], str]) -> Markup:
    """A bar for each, on one scale. `written` is how a value is said."""
    steps = ticks(max((bar.value for bar in shown), default=0.0))
    top = steps[-1] or 1.0
    pitch = (_WIDE - _LEFT) / max(len(shown), 1)
    drawn = [_bar(at, bar, pitch, top, written) for at, bar in enumerate(shown)]
    return element(
        "svg",
        *(_line(value, top, written) for value in steps),
        *drawn,
        *_names(shown, pitch),
        viewBox=f"0 0 {_WIDE} {_HIGH}",
        role="img",
        aria_label=title,
        class_="plot",
    )


def ticks(highest: float) -> list[float]:
    """Round values from nothing to at least the highest, about four of them."""
    if highest <= 0:
        return [0.0]
    rough = highest / 4
    power = 10 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    return [round(step * number, 12) for number in range(math.ceil(highest / step) + 1)]


def _height(value: float, top: float) -> float:
    return (_HIGH - _BOTTOM - _TOP) * value / top


def _bar(at: int, bar: Bar, pitch: float, top: float, written: Callable[[float], str]) -> Markup:
    wide = min(max(pitch * 0.72, 1.0), _WIDEST_BAR)
    high = max(_height(bar.value, top), 1.5) if bar.value else 0.0
    told = element("title", f"{bar.name}: {written(bar.value)}")
    left = _LEFT + pitch * at + (pitch - wide) / 2
    return element(
        "rect",
        told,
        x=f"{left:.1f}",
        y=f"{_HIGH - _BOTTOM - high:.1f}",
        width=f"{wide:.1f}",
        height=f"{high:.1f}",
        rx=2,
        class_="bar",
    )


def _line(value: float, top: float, written: Callable[[float], str]) -> Markup:
    y = f"{_HIGH - _BOTTOM - _height(value, top):.1f}"
    rule = element("line", x1=_LEFT, x2=_WIDE, y1=y, y2=y, class_="rule")
    label = element("text", written(value), x=_LEFT - 10, y=y, text_anchor="end", dominant_baseline="middle")
    return element("g", rule, label)


def _names(shown: Sequence[Bar], pitch: float) -> list[Markup]:
    """As many names as there is room for, the last one among them."""
    every = max(math.ceil(len(shown) / _LABELS), 1)
    return [
        element("text", bar.name, x=f"{_LEFT + pitch * (at + 0.5):.1f}", y=_HIGH - 8, text_anchor="middle")
        for at, bar in enumerate(shown)
        if (len(shown) - 1 - at) % every == 0
    ]
