"""Sources built again from what a trace says, and what they find today."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest

from marchwarden.audit.recheck import SourceCheck, SourceStatus, recheck_sources
from marchwarden.cli.source_resolver import SourceResolver
from marchwarden.contract import ResearchRequest
from marchwarden.core.notebook import Document, Hit
from marchwarden.researchers.arxiv.identifiers import ArxivId
from marchwarden.researchers.arxiv.library import Library
from marchwarden.researchers.arxiv.models import Paper, library_folder
from marchwarden.researchers.database.location import Database, DatabaseQuery
from marchwarden.researchers.database.tools import DatabaseSource
from marchwarden.researchers.files.tools import FilesSource
from marchwarden.settings import Settings
from marchwarden.storage.record import RunHeader, RunRecord
from tests.validating import a_run
from tests.world.memory import note
from tests.world.world import World


def opened(researcher: str, source: str, **settings: object) -> RunHeader:
    return RunHeader(ResearchRequest(question="q"), researcher, source, settings, "extractive", 0)


def a_home(folder: Path, **more: str) -> Settings:
    return Settings.from_environ({"MARCHWARDEN_HOME": str(folder / "home"), **more})


async def looked(record: RunRecord, settings: Settings, beside: Path) -> Sequence[SourceCheck]:
    return await recheck_sources(record, SourceResolver(record.header, settings, beside))


def a_database(at: Path) -> Path:
    changed(at, "CREATE TABLE bridges (name TEXT, lanes INTEGER)", "INSERT INTO bridges VALUES ('Alder Bridge', 2)")
    return at


def changed(database: Path, *statements: str) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


async def test_a_pi_run_is_followed_to_the_folder_and_the_database_of_those_who_found_what(folder, tmp_path):
    files = FilesSource([folder], index_dir=tmp_path / "home" / "index")
    path = a_database(tmp_path / "shop.sqlite")
    database = Database.at(path, {})
    rows = DatabaseSource(database)
    read = await files.fetch(Hit(f"{folder}/bridge.md"))
    counted = await rows.fetch(
        Hit(database.locator(DatabaseQuery("SELECT lanes FROM bridges", "the lanes of bridges")))
    )
    members = [
        {"name": "files", "purpose": "", "settings": {"kind": "files", "source": files.settings}},
        {"name": "database", "purpose": "", "settings": {"kind": "database", "source": rows.settings}},
    ]
    found_by = {read.locator: "files", counted.locator: "web, database"}
    record = await a_run(
        tmp_path / "traces", read, counted, opening=opened("pi", "pi", researchers=members), found_by=found_by
    )
    settings, beside = a_home(tmp_path), tmp_path / "beside"
    assert [visit.standing for visit in await looked(record, settings, beside)] == [
        SourceStatus.ALIVE,
        SourceStatus.ALIVE,
    ]
    changed(path, "UPDATE bridges SET lanes = 4")
    (folder / "bridge.md").unlink()
    gone, lost = await looked(record, settings, beside)
    assert (gone.standing, lost.standing) == (SourceStatus.GONE, SourceStatus.LOST)
    path.unlink()
    _, without = await looked(record, settings, beside)
    assert (without.standing, "shop.sqlite" in without.detail) == (SourceStatus.GONE, True)


async def test_a_folder_that_is_gone_takes_its_documents_with_it_and_no_others(folder, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "soup.md").write_text("A good soup needs an onion.")
    files = FilesSource([folder / "soup.rst", tmp_path / "other"], index_dir=tmp_path / "home" / "index")
    documents = [await files.fetch(Hit(f"{folder}/soup.rst")), await files.fetch(Hit(f"{tmp_path}/other/soup.md"))]
    record = await a_run(tmp_path / "traces", *documents, opening=opened("files", "file", **files.settings))
    (folder / "soup.rst").unlink()
    first, second = await looked(record, a_home(tmp_path), tmp_path / "beside")
    assert (first.standing, second.standing) == (SourceStatus.GONE, SourceStatus.ALIVE)
    (tmp_path / "other" / "soup.md").unlink()
    (tmp_path / "other").rmdir()
    visits = await looked(record, a_home(tmp_path), tmp_path / "beside")
    assert [visit.standing for visit in visits] == [SourceStatus.GONE, SourceStatus.GONE]


async def test_pages_are_asked_for_afresh_whatever_is_remembered_of_them(world: World, tmp_path):
    settings = a_home(tmp_path, **world.environ())
    page = Document("web", world.url("counts"), b"", "In 2024 an average of 18,400 vehicles crossed.")
    record = await a_run(tmp_path / "home" / "traces", page, opening=opened("web", "web"))
    for beside in ("one", "two"):
        await looked(record, settings, tmp_path / beside)
    asked = [request for request in world.requests if request.target == "/counts/alder-bridge"]
    assert [request.headers.get("if-none-match") for request in asked] == [None, None]
    assert not (tmp_path / "home" / "traces" / "pages").exists()


async def test_a_paper_that_is_kept_says_nothing_about_what_arxiv_has(tmp_path):
    with World() as world:
        settings = a_home(tmp_path, **world.environ())
    name, day = ArxivId("2011.04242", 1), date(2020, 11, 5)
    paper = Paper(name, "Scour", ("J. Okoye",), "An abstract.", day, day)
    document = Document("arxiv", name.locator, b"%PDF", "The scour hole was 2.3 metres deep.")
    Library(library_folder(settings.environ)).add(paper, document)
    record = await a_run(tmp_path / "traces", document, opening=opened("arxiv", "arxiv"))
    (visit,) = await looked(record, settings, tmp_path / "beside")
    assert visit.standing is SourceStatus.UNREACHABLE


STRANGERS = [
    ("https://127.0.0.1:1/page", SourceStatus.UNREACHABLE, "127.0.0.1"),
    ("arXiv:2011.04242v1", SourceStatus.UNREACHABLE, ""),
    ("shelf 3, book 9", SourceStatus.UNKNOWN, "only oracle"),
    ("file:///etc/passwd", SourceStatus.UNKNOWN, "only oracle"),
    ("/etc/passwd", SourceStatus.UNKNOWN, "only oracle"),
]


@pytest.mark.parametrize("place, standing, detail", STRANGERS)
async def test_what_a_stranger_cites_is_followed_where_anybody_can(tmp_path, place, standing, detail):
    with World() as world:
        settings = a_home(tmp_path, **world.environ())
    members = [
        {"name": "oracle", "purpose": "", "settings": {"kind": "registered"}},
        {"name": "files", "purpose": "", "settings": {"kind": "files", "source": {"folders": []}}},
    ]
    opening = opened("pi", "pi", researchers=members)
    record = await a_run(tmp_path / "traces", note(place, "So it is."), opening=opening, found_by={place: "oracle"})
    (visit,) = await looked(record, settings, tmp_path / "beside")
    assert (visit.standing, detail in visit.detail) == (standing, True)


async def test_a_run_of_a_researcher_nobody_knows_is_unknown_here(tmp_path):
    record = await a_run(tmp_path / "traces", note("x", "So it is."), opening=opened("oracle", "oracle"))
    (visit,) = await looked(record, a_home(tmp_path), tmp_path / "beside")
    assert (visit.standing, "'oracle'" in visit.detail) == (SourceStatus.UNKNOWN, True)
