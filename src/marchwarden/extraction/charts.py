"""Read the chart parts of Office documents as tables: a row for each category, a column for each series."""

import re
from itertools import islice
from typing import Final

import lxml.etree

from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.number_formats import display, is_date_format, show_date_number

MOST_POINTS: Final = 1_000
MOST_SERIES: Final = 50
_LONGEST_NUMBER: Final = 30
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def write_chart(builder: DocumentBuilder, chart: lxml.etree._Element) -> None:
    """Add the title of a chart and its values as they were stored when it was drawn."""
    title = chart.find("{*}chart/{*}title")
    if title is not None:
        builder.caption(_text(title))
    series = list(islice(chart.iterfind(".//{*}plotArea//{*}ser"), MOST_SERIES))
    categories = next((found for each in series if (found := _points(each.find("{*}cat")))), {})
    if not categories:
        categories = _shared([_points(each.find("{*}xVal")) for each in series])
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


def _shared(columns: list[dict[int, str]]) -> dict[int, str]:
    """Return the values along the axis of a scatter chart if all its series have the same."""
    return columns[0] if columns and all(column == columns[0] for column in columns) else {}


def _shown(value: str, code: str) -> str:
    if len(value) >= _LONGEST_NUMBER or not _NUMBER.fullmatch(value):
        return value
    return show_date_number(float(value)) if is_date_format(code) else display(float(value), code)


def _text(element: lxml.etree._Element) -> str:
    return " ".join(each.text or "" for each in element.iter("{*}t", "{*}v"))
