"""Drawing: the small pictures of a report, as inline SVG. Colours come from the style sheet, by class."""

from typing import Final

from marchwarden.reports.html import Markup, element, joined

_WIDE: Final = 1000
_NARROWEST: Final = 5


def meter(share: float, said: str, ticks: tuple[float, ...] = ()) -> Markup:
    """A bar from nothing to one, with marks where the bands begin."""
    filled = _rectangle(0, min(max(share, 0.0), 1.0) * _WIDE, "fill")
    marks = [_rectangle(tick * _WIDE - 1, 3, "tick") for tick in ticks]
    return _picture("meter", said, _rectangle(0, _WIDE, "track"), filled, *marks)


def scale(reached: int, of: int, said: str) -> Markup:
    """So many boxes of so many."""
    gap = 14
    wide = (_WIDE - gap * (of - 1)) / of
    boxes = [_rectangle(at * (wide + gap), wide, "fill" if at < reached else "track") for at in range(of)]
    return _picture("meter", said, *boxes)


def span(began: float, ended: float, whole: float, kind: str) -> Markup:
    """When something began and ended, of a whole time. Told in words beside it, so hidden from screen readers."""
    whole = whole or 1.0
    wide = max((ended - began) / whole * _WIDE, _NARROWEST)
    start = min(max(began / whole * _WIDE, 0.0), _WIDE - wide)
    waited = _rectangle(0, start, "waited")
    bar = _rectangle(start, wide, f"bar bar-{kind}")
    return element(
        "svg", waited, bar, class_="span", viewBox=f"0 0 {_WIDE} 10", preserveAspectRatio="none", aria_hidden="true"
    )


def sign(*, good: bool) -> Markup:
    """A tick or a cross in a circle."""
    line = "M7 12.5l3.4 3.4L17 9" if good else "M8.2 8.2l7.6 7.6M15.8 8.2l-7.6 7.6"
    circle = element("circle", cx=12, cy=12, r=10.5)
    return element("svg", circle, element("path", d=line), class_="sign", viewBox="0 0 24 24", aria_hidden="true")


def _picture(kind: str, said: str, *parts: Markup) -> Markup:
    return element(
        "svg",
        joined(parts),
        class_=kind,
        viewBox=f"0 0 {_WIDE} 10",
        preserveAspectRatio="none",
        role="img",
        aria_label=said,
    )


def _rectangle(start: float, wide: float, kind: str) -> Markup:
    return element("rect", class_=kind, x=round(start, 1), y=0, width=round(max(wide, 0), 1), height=10)
