"""Spreadsheets: tables, headers, numbers as displayed, places."""

import struct

import pytest

from marchwarden.core.blocks import BlockKind
from marchwarden.extraction import Unreadable, extract
from tests.extraction import office_samples
from tests.extraction.block_lines import blocks_of, locate, texts_of
from tests.extraction.office_samples import rows_of, workbook

ENCRYPTED = struct.pack("<HHHHHHII", 0x0809, 16, 0x0600, 0x0005, 0, 0, 0, 0) + struct.pack(
    "<HHHHH", 0x002F, 54, 1, 1, 1
)
"""The first records of a workbook with a password."""


def test_sheet_is_read_as_displayed_with_caption_header_rows_and_note() -> None:
    assert blocks_of(extract(workbook(), "a.xlsx")) == [
        ("heading", "Ferries"),
        ("paragraph", "Ferries of Holm, all years"),
        ("table_header", "| Ferry | Passengers | Share of tourists | Built | Income |"),
        ("row", "| Petrel | 44100 | 15% | 2019-02-14 | $88,200 |"),
        ("row", "| Gannet | 56700 | 21% | 2019-02-15 12:00 | #N/A |"),
        ("table_header", "| Pier | Depth |"),
        ("row", "| North | 4.5 |"),
        ("note", "measured in spring"),
    ]


def test_locator_is_the_first_cell_of_the_row() -> None:
    extracted = extract(workbook(), "a.xlsx")
    assert locate(extracted, "Gannet") == "x#Ferries!A5"
    assert locate(extracted, "15%") == "x#Ferries!A4"
    assert locate(extracted, "North") == "x#Ferries!B9"
    assert (extracted.title, extracted.media_type) == (
        "a",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    )


@pytest.mark.parametrize(
    ("name", "fragment"),
    [("My sheet", "'My sheet'!A2"), ("Ann's", "'Ann''s'!A2"), ("a#1 %", "'a%231 %25'!A2"), ("Über_2", "Über_2!A2")],
)
def test_sheet_names_are_quoted_in_locators(name: str, fragment: str) -> None:
    rows = rows_of(["Ferry", "Cars"], ["Petrel", 40])
    assert locate(extract(workbook({name: rows}), "a.xlsx"), "Petrel") == f"x#{fragment}"


def test_hidden_sheet_is_read_and_says_so() -> None:
    rows = rows_of(["Ferry", "Cars"], ["Petrel", 40])
    extracted = extract(workbook({"Data": rows, "Draft": rows, "Empty": ""}, hidden=["Draft"]), "a.xlsx")
    assert texts_of(extracted, BlockKind.HEADING) == ["Data", "Draft (hidden sheet)"]


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        ([["Ferry", 2018, 2019], ["Petrel", 31, 29]], ["| Ferry | 2018 | 2019 |"]),
        ([["", "Cars"], ["Petrel", "many"]], ["|  | Cars |"]),
        ([["Name", "Ada"], ["Born", 1815], ["City", "London"]], []),
        ([["Petrel", 31], ["Gannet", 29]], []),
        (
            [["Ferry", "Cars", ""], ["", "small", "large"], ["Petrel", 3, 4]],
            ["| Ferry | Cars |  |", "|  | small | large |"],
        ),
        ([["Harbour", "", "Note"], ["owner", "Dorn", ""], ["mayor", "Ada", "new"]], ["| Harbour |  | Note |"]),
        ([["Ferry", "Skipper", "Port"], ["Petrel", "Agnes", "Dorn"]], ["| Ferry | Skipper | Port |"]),
    ],
)
def test_header_is_detected(rows: list[list[object]], header: list[str]) -> None:
    extracted = extract(workbook({"S": rows_of(*rows)}), "a.xlsx")
    assert texts_of(extracted, BlockKind.TABLE_HEADER) == header


def test_bold_first_row_is_a_header() -> None:
    bold = rows_of(["name", "city"]).replace("<c t", f'<c s="{office_samples.BOLD}" t')
    extracted = extract(workbook({"S": bold + rows_of(["ada", "london"], first=2)}), "a.xlsx")
    assert texts_of(extracted, BlockKind.TABLE_HEADER) == ["| name | city |"]


def test_row_that_explains_the_columns_becomes_notes() -> None:
    explained = ["The quarter of the year reported here.", "The share of all employees who left."]
    extracted = extract(
        workbook({"S": rows_of(["Quarter", "Turnover"], explained, ["Q1", "12%"], ["Q2", "9%"])}), "a.xlsx"
    )
    assert texts_of(extracted, BlockKind.NOTE) == [f"Quarter: {explained[0]}", f"Turnover: {explained[1]}"]
    assert texts_of(extracted, BlockKind.ROW) == ["| Q1 | 12% |", "| Q2 | 9% |"]


def test_tables_next_to_each_other_are_separate() -> None:
    rows = rows_of(["Ferry", "Cars", "", "Pier", "Depth"], ["Petrel", 40, "", "North", 4])
    extracted = extract(workbook({"S": rows}), "a.xlsx")
    assert texts_of(extracted, BlockKind.ROW) == ["| Petrel | 40 |", "| North | 4 |"]
    assert locate(extracted, "North") == "x#S!D2"


def test_merged_label_is_repeated() -> None:
    rows = rows_of(["Port", "Ferry", "Cars"], ["Dorn", "Petrel", 40], ["", "Gannet", 90])
    merged = rows + "</sheetData><mergeCells><mergeCell ref='A2:A3'/></mergeCells><sheetData>"
    assert "| Dorn | Gannet | 90 |" in extract(workbook({"S": merged}), "a.xlsx").text


def test_name_does_not_matter() -> None:
    assert extract(workbook(), "notes.txt").media_type.endswith("sheet")
    assert extract(b"ferry,cars\nPetrel,40\n", "a.xlsx").text == "ferry,cars\nPetrel,40\n"


def test_old_workbook_is_read() -> None:
    extracted = extract(office_samples.old_workbook(), "a.xls")
    assert blocks_of(extracted) == [
        ("heading", "Ferries"),
        ("table_header", "| Ferry | Passengers |"),
        ("row", "| Petrel | 44100 |"),
    ]
    assert locate(extracted, "Petrel") == "x#Ferries!A2"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (office_samples.ole("EncryptedPackage", b"x"), "an encrypted Office document"),
        (office_samples.ole("WordDocument", b"x"), "an old Word document (.doc); save it as .docx"),
        (office_samples.ole("PowerPoint Document", b"x"), "an old presentation (.ppt); save it as .pptx"),
        (office_samples.ole("Workbook", b"x"), "an Excel workbook without text"),
        (office_samples.ole("Workbook", b"x")[:600], "binary"),
        (office_samples.old_workbook()[:1600], "a damaged Excel workbook"),
        (office_samples.ole("Workbook", ENCRYPTED), "an encrypted Excel workbook"),
        (office_samples.ole("Other", b"x"), "binary"),
        (workbook({"S": ""}), "an Excel workbook without text"),
        (workbook({"S": "<row><c>"}), "a damaged Excel workbook"),
    ],
)
def test_unreadable_workbooks_have_a_reason(content: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as refused:
        extract(content, "a.xlsx")
    assert refused.value.detail == reason
