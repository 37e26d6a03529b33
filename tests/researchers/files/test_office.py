"""Questions about Office files: the right place is cited, and rows are read with their column names."""

from pathlib import Path

import pytest

from marchwarden import FilesResearcher
from tests.extraction import office_samples
from tests.extraction.office_samples import rows_of, workbook

pytestmark = pytest.mark.slow

_FLEET = rows_of(
    ["Ferry", "Passengers in 2018", "Passengers in 2019", "Skipper"],
    *(
        [f"{name} {number}", 1000 + 7 * number + at, 2000 + 9 * number + at, f"Skipper of the {name} {number}"]
        for at, name in enumerate(("Petrel", "Gannet", "Tern"))
        for number in range(40)
    ),
)


_TALK = office_samples.SLIDE_BODY.replace("forty", "canned").replace("lighthouse", "beacon")


def fill(folder: Path) -> None:
    folder.mkdir()
    files = {
        "fleet.xlsx": workbook({"Read me": "", "All ferries": _FLEET}),
        "income.xlsx": workbook(),
        "old.xls": office_samples.old_workbook(),
        "shares.ods": office_samples.open_document(
            "spreadsheet", office_samples.SHEET_BODY.replace("Share", "Share of lorries")
        ),
        "meeting.pptx": office_samples.slides(),
        "talk.odp": office_samples.open_document("presentation", _TALK),
        "report.docx": office_samples.report(),
        "rules.odt": office_samples.open_document("text", "<text:p>The drawbridge is raised at nine.</text:p>"),
        "memo.rtf": rb"{\rtf1 The anchorage was dredged in 1987.\par}",
        "secret.xlsx": office_samples.ole("EncryptedPackage", b"x"),
        "damaged.pptx": b"PK\x03\x04 torn",
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)


@pytest.mark.parametrize(
    ("question", "said", "cited"),
    [
        (
            "How many passengers had Gannet 31 in 2019?",
            "Gannet 31, Passengers in 2019: 2280",
            "fleet.xlsx#'All ferries'!A73",
        ),
        ("What is the income of the Petrel?", "Income: $88,200", "income.xlsx#Ferries!A4"),
        ("What is the share of lorries on the Petrel?", "Petrel, Share of lorries: 15%", "shares.ods#'Old & new'!A2"),
        ("When is the lighthouse closed?", "closed in winter", "meeting.pptx#slide=4"),
        ("When will the Gannet be repainted?", "2031", "meeting.pptx#slide=2"),
        ("Which canned cars does the Petrel carry?", "canned cars", "talk.odp#slide=1"),
        ("How many ferries sail to Holm?", "Two ferries sail to Holm.", "report.docx"),
        ("When is the drawbridge raised?", "at nine", "rules.odt"),
        ("When was the anchorage dredged?", "1987", "memo.rtf"),
    ],
)
async def test_answer_is_quoted_as_displayed_and_cited_at_its_place(
    tmp_path: Path, question: str, said: str, cited: str
) -> None:
    folder = tmp_path / "office"
    fill(folder)
    researcher = FilesResearcher(folder, trace_dir=tmp_path / "traces", index_dir=tmp_path / "index")
    result = await researcher.research(question)
    assert said in result.answer
    assert f"{folder}/{cited}" in [citation.locator for citation in result.citations]


async def test_row_is_cited_with_its_header(tmp_path: Path) -> None:
    folder = tmp_path / "office"
    folder.mkdir()
    (folder / "fleet.xlsx").write_bytes(workbook({"All": _FLEET}))
    researcher = FilesResearcher(folder, trace_dir=tmp_path / "traces", index_dir=tmp_path / "index")
    result = await researcher.research("Who is the skipper of Tern 17?")
    assert "Skipper: Skipper of the Tern 17" in result.answer
    cited = {citation.locator.rpartition("#")[2]: citation.raw_excerpt for citation in result.citations}
    assert cited["All!A99"] == "| Tern 17 | 1121 | 2155 | Skipper of the Tern 17 |"
    assert cited["All!A1"] == "| Ferry | Passengers in 2018 | Passengers in 2019 | Skipper |"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What was the turnover of employees in Q2?", "Q2, Turnover: 9%"),
        ("What does the turnover of employees mean?", "Turnover: The share of all employees who left in the quarter."),
    ],
)
async def test_notes_about_columns_answer_only_questions_about_columns(
    tmp_path: Path, question: str, said: str
) -> None:
    explained = ["The quarter of the year reported here.", "The share of all employees who left in the quarter."]
    folder = tmp_path / "office"
    folder.mkdir()
    rows = rows_of(["Quarter", "Turnover"], explained, ["Q1", "12%"], ["Q2", "9%"])
    (folder / "staff.xlsx").write_bytes(workbook({"Staff": rows}))
    researcher = FilesResearcher(folder, trace_dir=tmp_path / "traces", index_dir=tmp_path / "index")
    result = await researcher.research(question)
    assert result.answer.startswith(said)


async def test_skipped_files_have_a_reason(tmp_path: Path) -> None:
    folder = tmp_path / "office"
    fill(folder)
    researcher = FilesResearcher(folder, trace_dir=tmp_path / "traces", index_dir=tmp_path / "index")
    result = await researcher.research("Who painted the lighthouse of Zanzibar?")
    details = " ".join(f"{gap.topic} {gap.detail}" for gap in result.gaps)
    assert not result.citations
    assert "an encrypted Office document" in details
    assert "a damaged zip archive" in details
