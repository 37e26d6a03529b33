"""DocumentBuilder: each block is a span of the text, with the place it came from."""

import pytest

from marchwarden.core.blocks import BlockKind
from marchwarden.core.notebook import Mark
from marchwarden.extraction import Unreadable
from marchwarden.extraction.builder import DocumentBuilder


def _texts(builder: DocumentBuilder) -> list[tuple[BlockKind, str, int]]:
    return [(block.kind, builder.text[block.start : block.end], block.level) for block in builder.blocks]


def test_blocks_are_spans_of_the_text() -> None:
    builder = DocumentBuilder()
    builder.heading(" Ferry\ntimes ", 2)
    builder.paragraph("Ferries leave\n  daily.")
    builder.item("- Summer")
    builder.item("- Winter", 1)
    builder.term("fare")
    builder.description("What you pay.")
    builder.code("if fare:\n    pay()  \n")
    builder.caption("Fares")
    builder.row(["Year", "Fare|EUR"], header=True)
    builder.row(["1998", ""])
    builder.note("Children ride free.")
    assert _texts(builder) == [
        (BlockKind.HEADING, "Ferry times", 2),
        (BlockKind.PARAGRAPH, "Ferries leave daily.", 0),
        (BlockKind.ITEM, "- Summer", 0),
        (BlockKind.ITEM, "- Winter", 1),
        (BlockKind.TERM, "fare", 0),
        (BlockKind.DESCRIPTION, "What you pay.", 0),
        (BlockKind.CODE, "if fare:\n    pay()", 0),
        (BlockKind.CAPTION, "Fares", 0),
        (BlockKind.TABLE_HEADER, "| Year | Fare¦EUR |", 0),
        (BlockKind.ROW, "| 1998 |  |", 0),
        (BlockKind.NOTE, "Children ride free.", 0),
    ]
    assert "daily.\n\n- Summer\n- Winter\nfare\nWhat you pay.\n\nif fare" in builder.text
    assert "| Year | Fare¦EUR |\n| 1998 |  |\n\nChildren" in builder.text


def test_empty_blocks_are_dropped_and_control_characters_removed() -> None:
    builder = DocumentBuilder()
    builder.paragraph(" \n ")
    builder.row(["", " "])
    builder.paragraph("a\x1b[31m b\u202e")
    assert builder.text == "a[31m b"
    assert len(builder.blocks) == 1


def test_a_mark_names_the_next_block_with_text() -> None:
    builder = DocumentBuilder()
    builder.mark("page=1")
    builder.mark("page=2")
    builder.paragraph("One.")
    builder.paragraph("Two.")
    builder.mark("page=3")
    builder.paragraph("Three.")
    assert builder.marks == (Mark(0, "page=2"), Mark(builder.text.index("Three"), "page=3"))


def test_a_text_that_is_too_long_is_refused() -> None:
    builder = DocumentBuilder()
    for _ in range(9):
        builder.paragraph("word " * 200_000)
    with pytest.raises(Unreadable, match="longer than"):
        builder.paragraph("word " * 400_000)
