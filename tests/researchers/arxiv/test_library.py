import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import date
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marchwarden.core.notebook import Document, Link, Mark
from marchwarden.errors import StorageError
from marchwarden.researchers.arxiv.identifiers import ArxivId
from marchwarden.researchers.arxiv.library import Library
from marchwarden.researchers.arxiv.models import Paper

pytestmark = pytest.mark.slow

DAY = date(2024, 3, 4)
KILLED = """
import os, sys
from pathlib import Path
from tests.researchers.arxiv.test_library import a_document, a_paper
from marchwarden.researchers.arxiv.library import Library

library = Library(Path(sys.argv[1]))
print("begun", flush=True)
for at in range(1, 1000):
    library.add(a_paper(at), a_document(at))
    print(at, flush=True)
"""


def a_paper(number: int = 1, version: int = 1) -> Paper:
    return Paper(ArxivId(f"2401.{number:05}", version), f"Paper {number}", ("Jana Okoye",), "About wind.", DAY, DAY)


def a_document(number: int = 1, text: str = "") -> Document:
    body = text or f"1 Wind\n\nThe gust of paper {number} reached {number + 30} metres.\n\n" + "The river rose. " * 50
    return Document(
        "arxiv",
        a_paper(number).id.locator,
        f"<html>{body}</html>".encode(),
        body,
        title=a_paper(number).citation,
        media_type="text/html",
        marks=(Mark(0, "S1"),),
        published=DAY,
        links=(Link("https://doi.org/10.5555/1"),),
    )


def test_an_added_paper_is_returned_unchanged(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.add(a_paper(), a_document())
    assert library.document(a_paper().id) == a_document()
    assert library.document(a_paper().id.latest) == a_document()
    assert library.document(ArxivId("2401.00001", 2)) is None
    (saved,) = library.papers()
    assert (saved.paper, saved.media_type) == (a_paper(), "text/html")


def test_reading_a_missing_library_creates_nothing(tmp_path: Path) -> None:
    library = Library(tmp_path / "none")
    assert not library.papers() and not library.search(["wind"]) and not library.remove(ArxivId("2401.00001"))
    assert not (tmp_path / "none").exists()


def test_another_version_replaces_the_first(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.add(a_paper(), a_document(text="The gust was weak."))
    library.add(a_paper(version=2), a_document(text="The storm was strong."))
    assert [str(saved.paper.id) for saved in library.papers()] == ["2401.00001v2"]
    assert not library.search(["gust"]) and library.search(["storm"])


def test_removing_a_paper_deletes_its_bodies_unless_shared(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.add(a_paper(1), a_document(1))
    library.add(a_paper(2), a_document(1))
    assert library.remove(ArxivId("2401.00001"))
    assert library.document(ArxivId("2401.00002")) is not None, "a body that two papers share stays"
    assert library.remove(ArxivId("2401.00002"))
    assert not library.remove(ArxivId("2401.00002"))
    assert not library.search(["gust"])
    assert not [path for path in (tmp_path / "archive").rglob("*") if path.is_file()]


def test_passages_are_matched_by_stem_and_ranked(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.add(a_paper(1), a_document(1, "Rivers rise. " * 40))
    library.add(a_paper(2), a_document(2, "The gusts measured on decks were strong.\n\n" + "Rivers rise. " * 40))
    found = library.search(["gust", "deck", "rising"])
    assert [str(each.paper.id) for each in found] == ["2401.00002v1", "2401.00001v1"]
    assert "gusts measured" in found[0].words


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=12), max_size=4))
def test_words_never_become_query_syntax(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    library = Library(tmp_path_factory.getbasetemp() / "syntax")
    if not library.papers():
        library.add(a_paper(), a_document())
    library.search([*words, "NEAR", "a*", "number:", "-", "(", '"', "\0"])
    assert library.search(['"', "\0"]) == ()


def test_a_paper_with_a_damaged_body_is_not_returned(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.add(a_paper(), a_document())
    for body in (tmp_path / "archive").rglob("*"):
        if body.is_file():
            body.write_bytes(b"damaged")
    assert library.document(a_paper().id) is None
    library.add(a_paper(), a_document())
    assert library.document(a_paper().id) == a_document()


def test_a_damaged_database_is_reported(tmp_path: Path) -> None:
    (tmp_path / "library.sqlite").write_bytes(b"not a database, not at all" * 100)
    with pytest.raises(StorageError, match="cannot be used"):
        Library(tmp_path).papers()


@pytest.mark.parametrize(("column", "value"), [("added", "yesterday"), ("paper", "{}"), ("text_hash", b"\xff")])
def test_a_damaged_row_is_reported(tmp_path: Path, column: str, value: object) -> None:
    library = Library(tmp_path)
    library.add(a_paper(), a_document())
    with closing(sqlite3.connect(tmp_path / "library.sqlite")) as database, database:
        database.execute(f"UPDATE papers SET {column} = ?", (value,))
    for read in (library.papers, partial(library.find, a_paper().id), partial(library.document, a_paper().id)):
        with pytest.raises(StorageError, match="cannot be used"):
            read()


def test_a_paper_with_damaged_metadata_is_not_returned(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.add(a_paper(), a_document())
    with closing(sqlite3.connect(tmp_path / "library.sqlite")) as database, database:
        database.execute("UPDATE papers SET document = '{\"locator\": 1}'")
    assert library.document(a_paper().id) is None


def test_adding_a_paper_is_atomic_under_sigkill(tmp_path: Path) -> None:
    adding = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert adding.stdout is not None
    acknowledged = 0
    for line in adding.stdout:
        acknowledged = int(line) if line.strip().isdigit() else 0
        if acknowledged >= 8:
            break
    adding.kill()
    adding.wait(10)
    adding.stdout.close()
    library = Library(tmp_path)
    saved = library.papers()
    assert len(saved) >= acknowledged
    for each in saved:
        number = int(each.paper.id.number.split(".")[1])
        assert library.document(each.paper.id) == a_document(number)
        assert any(found.paper == each.paper for found in library.search(["paper", str(number), str(number + 30)]))
