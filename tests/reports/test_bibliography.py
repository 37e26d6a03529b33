import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from marchwarden.reports.bibliography import bibtex, csl_json, escape_tex
from marchwarden.reports.bundle import SourceText
from tests.reports.samples import SampleCitation, SampleRun, bundle_of, bundle_without_store

PAPER = SampleCitation(
    "https://arxiv.org/abs/2401.01234v2", "Spans are long.", "On {long} Spans & 100% more", published=date(2024, 1, 2)
)
FILE = SampleCitation("notes/spans_1.md", "Spans are short.")

EXPECTED = """\
@misc{longspans-DIGEST-1,
  title = {{On \\{long\\} Spans \\& 100\\% more}},
  author = {{Ines Hale}},
  date = {2024-01-02},
  year = {2024},
  url = {https://arxiv.org/abs/2401.01234v2},
  eprint = {2401.01234},
  eprinttype = {arxiv},
  urldate = {DAY},
  note = {sha256:HASH},
}

@misc{DIGEST-2,
  title = {{notes/spans\\_1.md}},
  author = {{Ines Hale}},
  howpublished = {notes/spans\\_1.md},
  urldate = {DAY},
  note = {sha256:HASH},
}
"""


def test_each_document_is_one_entry(tmp_path: Path):
    bundle = bundle_of(tmp_path, SampleRun("One. [1]\n\nTwo. [2]", [PAPER, FILE]))
    text = re.sub(r"sha256:\w{64}", "sha256:HASH", bibtex(bundle))
    text = re.sub(r"[0-9a-f]{8}(?=-\d,)", "DIGEST", text)
    assert re.sub(r"urldate = \{\d{4}-\d\d-\d\d\}", "urldate = {DAY}", text) == EXPECTED
    paper, file = json.loads(csl_json(bundle))
    assert (paper["type"], paper["URL"]) == ("article", PAPER.locator)
    assert paper["issued"] == {"date-parts": [[2024, 1, 2]]}
    assert paper["author"] == [{"literal": "Ines Hale"}]
    assert (file["type"], file["title"]) == ("document", "notes/spans_1.md")
    assert "URL" not in file and "issued" not in file


@given(st.text())
def test_no_text_can_end_a_bibtex_field(text: str):
    text = re.sub(r"\\(?:textbackslash|textasciitilde|textasciicircum)\{\}|\\[{}$&#_%]", "", escape_tex(text))
    assert not re.search(r"[\\{}$&#%~^\n]", text)


def test_several_authors_are_split():
    (source,) = bundle_without_store(SampleRun("One. [1]", [PAPER])).sources
    assert _authors(source, "Maud Ferris and Ines Hale") == ["Maud Ferris", "Ines Hale"]
    assert _authors(source, "Maud Ferris; Ines Hale") == ["Maud Ferris", "Ines Hale"]
    assert _authors(source, "Maud Ferris, Ines Hale, Ada Lunt") == ["Maud Ferris", "Ines Hale", "Ada Lunt"]
    assert _authors(source, "Ferris, Maud") == ["Ferris, Maud"]
    assert _authors(source, "") == []


def _authors(source: SourceText, author: str) -> list[str]:
    bundle = bundle_without_store(SampleRun("One. [1]", [PAPER]))
    (item,) = json.loads(csl_json(replace(bundle, sources=(replace(source, author=author),))))
    return [each["literal"] for each in item.get("author", [])]
