"""Word documents: headings, lists, tables, notes, text boxes."""

import io
import zipfile

from marchwarden.core.blocks import BlockKind
from marchwarden.extraction import extract
from tests.extraction import office_samples, samples
from tests.extraction.block_lines import blocks_of, texts_of

_BODY = "</w:body>"


def with_body(xml: str) -> bytes:
    """The sample document with more XML at the end of its body."""
    with zipfile.ZipFile(io.BytesIO(office_samples.report())) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries["word/document.xml"] = entries["word/document.xml"].replace(_BODY.encode(), f"{xml}{_BODY}".encode())
    return samples.archive(entries)


def test_document_is_read_with_its_structure() -> None:
    extracted = extract(office_samples.report(), "a.docx")
    assert blocks_of(extracted) == [
        ("heading", "Report of the harbour"),
        ("heading", "Ferries"),
        ("paragraph", "Two ferries sail to Holm."),
        ("note", "Is the third one sold?"),
        ("item", "- The Petrel carries forty cars."),
        ("item", "- The Gannet carries ninety cars."),
        ("item", "1. Load the cars."),
        ("item", "2. Close the ramp."),
        ("table_header", "| Ferry | Cars |"),
        ("row", "| Petrel | 40 |"),
        ("row", "| Gannet | 90 in summer |"),
        ("caption", "Table 1: cars"),
    ]
    assert (extracted.title, extracted.author, extracted.published) == ("Report of the harbour", "", None)


def test_text_boxes_and_content_controls_are_read_and_deletions_are_not() -> None:
    box = (
        "<w:p><w:r><w:t>Before</w:t><mc:AlternateContent xmlns:mc='x'><mc:Choice><w:txbxContent><w:p><w:r>"
        "<w:t>In the box.</w:t></w:r></w:p></w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent><w:p><w:r>"
        "<w:t>In the box.</w:t></w:r></w:p></w:txbxContent></mc:Fallback></mc:AlternateContent></w:r>"
        "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t> and after.</w:t></w:r></w:ins></w:p>"
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>Controlled.</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    )
    extracted = extract(with_body(box), "a.docx")
    assert texts_of(extracted, BlockKind.PARAGRAPH)[-3:] == ["Before and after.", "In the box.", "Controlled."]
    assert "gone" not in extracted.text


def test_outline_level_makes_a_heading() -> None:
    outline = "<w:p><w:pPr><w:outlineLvl w:val='2'/></w:pPr><w:r><w:t>Piers</w:t></w:r></w:p>"
    last = extract(with_body(outline), "a.docx").blocks[-1]
    assert (last.kind, last.level) == (BlockKind.HEADING, 3)


def test_header_rows_and_merged_columns_of_tables() -> None:
    table = (
        "<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr><w:tc><w:p><w:r><w:t>Pier</w:t></w:r></w:p></w:tc>"
        "<w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr><w:p><w:r><w:t>Depth</w:t></w:r></w:p></w:tc></w:tr>"
        "<w:tr><w:tc><w:p><w:r><w:t>North</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>4</w:t></w:r></w:p></w:tc>"
        "<w:tc><w:p><w:r><w:t>5</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    )
    assert blocks_of(extract(with_body(table), "a.docx"))[-2:] == [
        ("table_header", "| Pier | Depth |  |"),
        ("row", "| North | 4 | 5 |"),
    ]
