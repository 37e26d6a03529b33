"""Read the chart parts of Office documents as tables: a row for each category, a column for each series."""

import re
from itertools import islice
from typing import Final

import lxml.etree

from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.number_formats import display

MOST_POINTS: Final = 1_000
MOST_SERIES: Final = 50
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def write_chart(builder: DocumentBuilder, chart: lxml.etree._Element) -> None:
    """Add the title of a chart and its values as they were stored when it was drawn."""
    title = chart.find("{*}chart/{*}title")
    if title is not None:
        builder.caption(_text(title))
    series = list(islice(chart.iterfind(".//{*}plotArea//{*}ser"), MOST_SERIES))
    categories = next((found for each in series if (found := _points(each.find("{*}cat")))), {})
    columns = [_points(_first(each, "val", "yVal")) for each in series]
    if not any(columns):
        return
    names = [_text(name) if (name := each.find("{*}tx")) is not None else "" for each in series]
    if any(names):
        builder.row(["", *names], header=True)
    for at in sorted({at for column in columns for at in column}):
        builder.row([categories.get(at, ""), *(column.get(at, "") for column in columns)])


def _first(element: lxml.etree._Element, *names: str) -> lxml.etree._Element | None:
    return next((found for name in names if (found := element.find(f"{{*}}{name}")) is not None), None)


def _points(values: lxml.etree._Element | None) -> dict[int, str]:
    """Map the numbers of points to their values as displayed."""
    if values is None:
        return {}
    code = values.findtext(".//{*}formatCode") or ""
    points = islice(values.iterfind(".//{*}pt"), MOST_POINTS)
    return {
        int(index): _shown((point.findtext("{*}v") or "").strip(), code)
        for point in points
        if (index := point.get("idx", "")).isdecimal()
    }


def _shown(value: str, code: str) -> str:
    return display(float(value), code) if len(value) < 30 and _NUMBER.fullmatch(value) else value  # noqa: PLR2004


def _text(element: lxml.etree._Element) -> str:
    return " ".join(each.text or "" for each in element.iter("{*}t", "{*}v"))
