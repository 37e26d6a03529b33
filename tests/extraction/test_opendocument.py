"""OpenDocument texts, presentations and spreadsheets, and RTF."""

import io
import zipfile
from datetime import date

import pytest

from marchwarden.extraction import Unreadable, extract
from tests.extraction import samples
from tests.extraction.block_lines import blocks_of, locate
from tests.extraction.office_samples import (
    RTF,
    SHEET_BODY,
    SHEET_STYLES,
    SLIDE_BODY,
    TEXT_BODY,
    TEXT_STYLES,
    open_document,
)


def test_text_is_read_with_its_structure() -> None:
    extracted = extract(open_document("text", TEXT_BODY, styles=TEXT_STYLES), "a.odt")
    assert blocks_of(extracted) == [
        ("heading", "Ferries"),
        ("paragraph", "The Petrel carries forty cars."),
        ("note", "It was rebuilt in 1999."),
        ("item", "1. Load the cars."),
        ("item", "- small ones first"),
        ("item", "2. Close the ramp."),
        ("table_header", "| Ferry | Cars |"),
        ("row", "| Petrel | 40 |"),
    ]
    assert (extracted.title, extracted.author, extracted.published) == ("Harbour report", "Ada", date(2019, 5, 4))


def test_title_style_makes_the_title() -> None:
    styles = '<style:style style:name="P1" style:parent-style-name="Title"/>'
    body = '<text:p text:style-name="P1">The harbour</text:p><text:p>It is deep.</text:p>'
    extracted = extract(open_document("text", body, styles=styles, meta="<x/>"), "a.odt")
    assert extracted.title == "The harbour"
    assert blocks_of(extracted)[0] == ("heading", "The harbour")


def test_sheet_is_read_as_displayed() -> None:
    extracted = extract(open_document("spreadsheet", SHEET_BODY, styles=SHEET_STYLES), "a.ods")
    assert blocks_of(extracted) == [
        ("heading", "Old & new (hidden sheet)"),
        ("table_header", "| Ferry | Share |"),
        ("row", "| Petrel | 15% |"),
    ]
    assert locate(extracted, "Petrel") == "x#'Old & new'!A2"


def test_slides_are_read_with_notes() -> None:
    extracted = extract(open_document("presentation", SLIDE_BODY), "a.odp")
    assert blocks_of(extracted) == [
        ("heading", "The ferries"),
        ("item", "- The Petrel carries forty cars."),
        ("note", "Mention the Gannet."),
        ("heading", "Slide 2"),
        ("paragraph", "The lighthouse is closed."),
    ]
    assert locate(extracted, "lighthouse") == "x#slide=2"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            open_document(
                "text", TEXT_BODY, manifest="<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>"
            ),
            "an encrypted OpenDocument file",
        ),
        (open_document("drawing", ""), "an OpenDocument file that is no text, presentation or spreadsheet"),
        (open_document("text", ""), "an OpenDocument file without text"),
        (open_document("text", "<text:p>"), "a damaged OpenDocument file"),
        (rb"{\rtf1 }", "an RTF document without text"),
    ],
)
def test_unreadable_documents_have_a_reason(content: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as refused:
        extract(content, "a.odt")
    assert refused.value.detail == reason


def test_manifest_of_old_programs_needs_no_namespace() -> None:
    content = open_document("text", TEXT_BODY)
    manifest = b"<!DOCTYPE manifest:manifest SYSTEM 'Manifest.dtd'><manifest:manifest/>"
    assert extract(samples.archive(_parts(content) | {"META-INF/manifest.xml": manifest}), "a.odt").text


def test_template_of_styles_only_is_no_archive() -> None:
    parts = _parts(open_document("text", TEXT_BODY))
    del parts["content.xml"]
    with pytest.raises(Unreadable) as refused:
        extract(samples.archive(parts), "a.ott")
    assert refused.value.detail == "an OpenDocument file without text"


def _parts(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_rich_text_keeps_paragraphs_and_rows() -> None:
    assert blocks_of(extract(RTF, "a.doc")) == [
        ("paragraph", "The Petrel carries förty cars."),
        ("paragraph", "Built at Dorn."),
        ("row", "| Ferry | Cars |"),
        ("row", "| Petrel | 40 |"),
        ("paragraph", "\U0001f600"),
    ]
