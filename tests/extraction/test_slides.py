"""Presentations: titles, bullets, tables, charts, notes."""

import pytest

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
