"""Presentations: titles, bullets, tables, charts, notes."""

import io
from datetime import date

import pptx
import pytest
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE

from marchwarden.extraction import Unreadable, extract
from tests.extraction import office_samples, samples
from tests.extraction.block_lines import blocks_of, locate


def test_slides_are_read_in_order_with_all_their_text() -> None:
    extracted = extract(office_samples.slides(), "a.pptx")
    assert blocks_of(extracted) == [
        ("heading", "Harbour of Holm"),
        ("paragraph", "Annual meeting"),
        ("heading", "The ferries"),
        ("item", "- The Petrel carries forty cars."),
        ("item", "- Built at Dorn"),
        ("item", "- The Gannet carries ninety cars."),
        ("note", "The Gannet will be repainted in the spring of 2031."),
        ("heading", "Figures"),
        ("table_header", "| Ferry | Cars |"),
        ("row", "| Petrel | 40 |"),
        ("caption", "Tourists on the ferries"),
        ("table_header", "|  | Share of tourists |"),
        ("row", "| 2018 | 15% |"),
        ("row", "| 2019 | 21% |"),
        ("heading", "Slide 4"),
        ("paragraph", "The lighthouse is closed in winter."),
    ]
    assert [block.level for block in extracted.blocks if block.kind.value == "item"] == [0, 1, 0]
    assert locate(extracted, "Gannet") == "x#slide=2"
    assert locate(extracted, "lighthouse") == "x#slide=4"
    assert (extracted.title, extracted.author, extracted.published) == ("Harbour of Holm", "", None)


def test_presentation_without_text_is_refused() -> None:
    relations = b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"/>'
    content = samples.archive({"_rels/.rels": relations, "ppt/presentation.xml": b"<presentation/>"})
    with pytest.raises(Unreadable) as refused:
        extract(content, "a.pptx")
    assert refused.value.detail == "a presentation without text"


def chart_rows(kind: XL_CHART_TYPE, data: CategoryChartData | XyChartData) -> list[str]:
    presentation = pptx.Presentation()
    presentation.slides.add_slide(presentation.slide_layouts[6]).shapes.add_chart(kind, 0, 0, 999, 999, data)
    written = io.BytesIO()
    presentation.save(written)
    return [text for kind, text in blocks_of(extract(written.getvalue(), "a.pptx")) if kind == "row"]


def test_days_below_a_chart_are_dates() -> None:
    data = CategoryChartData()
    data.categories = [date(2019, 2, 14), date(2019, 2, 15)]
    data.add_series("Cars", (40, 90))
    assert chart_rows(XL_CHART_TYPE.LINE, data) == ["| 2019-02-14 | 40 |", "| 2019-02-15 | 90 |"]


@pytest.mark.parametrize(("second", "label"), [(1.5, "1.5"), (1.6, "")])
def test_rows_of_a_scatter_chart_begin_with_the_value_that_all_series_share(second: float, label: str) -> None:
    data = XyChartData()
    for name, at in (("Petrel", 1.5), ("Gannet", second)):
        data.add_series(name).add_data_point(at, 40)
    assert chart_rows(XL_CHART_TYPE.XY_SCATTER, data) == [f"| {label} | 40 | 40 |"]
