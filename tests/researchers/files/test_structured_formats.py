"""Emails, chats, calendars, notebooks, records and LaTeX are found by a question and quoted as a person reads them."""

from pathlib import Path

import pytest

from marchwarden.audit.verify import verify
from marchwarden.researchers.files.agent import FilesResearcher
from marchwarden.storage.store import Store
from tests.extraction import structured_samples as samples

FILES = {
    "letter.eml": samples.mail(),
    "inbox.mbox": samples.mailbox().replace(b"forty pounds", b"seventy euros"),
    "harbour.ics": samples.CALENDAR,
    "ferries.ipynb": samples.NOTEBOOK,
    "slack.json": samples.SLACK.replace(b"leaves at noon", b"leaves pier nine at noon"),
    "chat.txt": samples.WHATSAPP.replace(b"The ferry leaves at noon.", b"The lighthouse party starts at nine."),
    "paper.tex": samples.LATEX,
    "library.bib": samples.BIBTEX,
    "fleet.json": b'[{"ferry": "Skerry", "built": 1933, "home": {"city": "Dorn"}, "captain": "Olga Quist"}, '
    b'{"ferry": "Petrel", "built": 1987, "home": {"city": "Lund"}, "captain": "Jon Varga"}]',
    "crew.jsonl": b'{"name": "Olga Quist", "role": "captain", "bio": "She learned to sail in Bergen."}\n'
    b'{"name": "Jon Varga", "role": "cook", "bio": "He was born in Tromsoe."}\n',
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "excerpt", "place"),
    [
        ("How many pounds does the ferry to Holm cost?", "ferry to Holm costs forty pounds from June.", "letter.eml"),
        ("How many euros does the ferry to Holm cost?", "costs seventy euros from June.", "inbox.mbox#message=1"),
        ("When is the ferry inspection?", "When: Tuesday, 3 June 2025, 14:00 to 15:30", "harbour.ics#event=1"),
        ("How many cars does the ferry carry?", "The ferry carries forty cars.", "ferries.ipynb#cell=1"),
        (
            "From which pier does the ferry leave at noon?",
            "Ada Byron (2023-06-02 14:40 UTC): The ferry of @Bob leaves pier nine at noon",
            "slack.json#message=1",
        ),
        (
            "When does the lighthouse party start?",
            "Ada Byron (12/03/2024, 14:40): The lighthouse party starts at nine.",
            "chat.txt#message=1",
        ),
        ("In which year was the ferry built that carries cars?", "The ferry was built in 1958", "paper.tex#L8"),
        ("What is the DOI of The Ferry of Holm?", "Journal: Journal of Ferries B; DOI: 10.1/x", "library.bib#record=1"),
        (
            "When was the Petrel built?",
            "ferry: Petrel; built: 1987; home.city: Lund; captain: Jon Varga",
            "fleet.json#record=2",
        ),
        ("Where did Olga Quist learn to sail?", "bio: She learned to sail in Bergen.", "crew.jsonl#record=1"),
    ],
)
async def test_a_question_quotes_the_right_place(question: str, excerpt: str, place: str, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    researcher = FilesResearcher(folder, trace_dir=tmp_path / "traces", index_dir=tmp_path / "index")
    result = await researcher.research(question)
    quoted = {each.raw_excerpt: each.locator for each in result.citations[:3]}
    assert [locator for text, locator in quoted.items() if excerpt in text] == [f"{folder}/{place}"], quoted
    assert all(check.proved for check in verify(Store(tmp_path / "traces"), result.trace_id))
