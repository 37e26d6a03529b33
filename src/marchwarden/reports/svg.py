"""Small charts of a report as inline SVG. The style sheet sets the colours by class."""

from typing import Final

from marchwarden.reports.html import Markup, element, joined

_WIDTH: Final = 1000
_MIN_WIDTH: Final = 5


def meter(share: float, label: str, ticks: tuple[float, ...] = ()) -> Markup:
    """A bar from 0 to 1, with ticks where the confidence bands begin."""
    filled = _rectangle(0, min(max(share, 0.0), 1.0) * _WIDTH, "fill")
    marks = [_rectangle(tick * _WIDTH - 1, 3, "tick") for tick in ticks]
    return _chart("meter", label, _rectangle(0, _WIDTH, "track"), filled, *marks)


def scale(reached: int, of: int, label: str) -> Markup:
    """A row of `of` boxes, of which `reached` are filled."""
    gap = 14
    width = (_WIDTH - gap * (of - 1)) / of
    boxes = [_rectangle(at * (width + gap), width, "fill" if at < reached else "track") for at in range(of)]
    return _chart("meter", label, *boxes)


def span(began: float, ended: float, total: float, css_class: str) -> Markup:
    """When a step began and ended within the total time. Hidden from screen readers, because the text says the same."""
    total = total or 1.0
    width = max((ended - began) / total * _WIDTH, _MIN_WIDTH)
    start = min(max(began / total * _WIDTH, 0.0), _WIDTH - width)
    waited = _rectangle(0, start, "waited")
    bar = _rectangle(start, width, f"bar bar-{css_class}")
    return element(
        "svg", waited, bar, class_="span", viewBox=f"0 0 {_WIDTH} 10", preserveAspectRatio="none", aria_hidden="true"
    )


def sign(*, good: bool) -> Markup:
    """A tick or a cross in a circle."""
    line = "M7 12.5l3.4 3.4L17 9" if good else "M8.2 8.2l7.6 7.6M15.8 8.2l-7.6 7.6"
    circle = element("circle", cx=12, cy=12, r=10.5)
    return element("svg", circle, element("path", d=line), class_="sign", viewBox="0 0 24 24", aria_hidden="true")


def _chart(css_class: str, label: str, *parts: Markup) -> Markup:
    return element(
        "svg",
        joined(parts),
        class_=css_class,
        viewBox=f"0 0 {_WIDTH} 10",
        preserveAspectRatio="none",
        role="img",
        aria_label=label,
    )


def _rectangle(start: float, width: float, css_class: str) -> Markup:
    return element("rect", class_=css_class, x=round(start, 1), y=0, width=round(max(width, 0), 1), height=10)
