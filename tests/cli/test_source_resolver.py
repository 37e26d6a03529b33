"""Rebuild sources from traces and check citations with them."""

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

pytestmark = pytest.mark.slow


def run_header(researcher: str, source: str, **settings: object) -> RunHeader:
    return RunHeader(ResearchRequest(question="q"), researcher, source, settings, "extractive", 0)


def settings_in(folder: Path, **more: str) -> Settings:
    return Settings.from_environ({"MARCHWARDEN_HOME": str(folder / "home"), **more})


async def recheck(record: RunRecord, settings: Settings, scratch: Path) -> Sequence[SourceCheck]:
    return await recheck_sources(record, SourceResolver(record.header, settings, scratch))


def create_database(at: Path) -> Path:
    execute(at, "CREATE TABLE bridges (name TEXT, lanes INTEGER)", "INSERT INTO bridges VALUES ('Alder Bridge', 2)")
    return at


def execute(database: Path, *statements: str) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


async def test_citations_of_a_pi_run_are_checked_at_their_folder_and_database(folder, tmp_path):
    files = FilesSource([folder], index_dir=tmp_path / "home" / "index")
    path = create_database(tmp_path / "shop.sqlite")
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
        tmp_path / "traces", read, counted, opening=run_header("pi", "pi", researchers=members), found_by=found_by
    )
    settings, scratch = settings_in(tmp_path), tmp_path / "scratch"
    assert [visit.standing for visit in await recheck(record, settings, scratch)] == [
        SourceStatus.ALIVE,
        SourceStatus.ALIVE,
    ]
    execute(path, "UPDATE bridges SET lanes = 4")
    (folder / "bridge.md").unlink()
    gone, lost = await recheck(record, settings, scratch)
    assert (gone.standing, lost.standing) == (SourceStatus.GONE, SourceStatus.LOST)
    path.unlink()
    _, without = await recheck(record, settings, scratch)
    assert (without.standing, "shop.sqlite" in without.detail) == (SourceStatus.GONE, True)


async def test_documents_of_a_deleted_folder_are_gone_and_others_are_checked(folder, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "soup.md").write_text("A good soup needs an onion.")
    files = FilesSource([folder / "soup.rst", tmp_path / "other"], index_dir=tmp_path / "home" / "index")
    documents = [await files.fetch(Hit(f"{folder}/soup.rst")), await files.fetch(Hit(f"{tmp_path}/other/soup.md"))]
    record = await a_run(tmp_path / "traces", *documents, opening=run_header("files", "file", **files.settings))
    (folder / "soup.rst").unlink()
    first, second = await recheck(record, settings_in(tmp_path), tmp_path / "scratch")
    assert (first.standing, second.standing) == (SourceStatus.GONE, SourceStatus.ALIVE)
    (tmp_path / "other" / "soup.md").unlink()
    (tmp_path / "other").rmdir()
    visits = await recheck(record, settings_in(tmp_path), tmp_path / "scratch")
    assert [visit.standing for visit in visits] == [SourceStatus.GONE, SourceStatus.GONE]


async def test_pages_are_fetched_again_without_the_cache(world: World, tmp_path):
    settings = settings_in(tmp_path, **world.environ())
    page = Document("web", world.url("counts"), b"", "In 2024 an average of 18,400 vehicles crossed.")
    record = await a_run(tmp_path / "home" / "traces", page, opening=run_header("web", "web"))
    for scratch in ("one", "two"):
        await recheck(record, settings, tmp_path / scratch)
    fetches = [request for request in world.requests if request.target == "/counts/alder-bridge"]
    assert [request.headers.get("if-none-match") for request in fetches] == [None, None]
    assert not (tmp_path / "home" / "traces" / "pages").exists()


async def test_papers_are_checked_on_arxiv_not_in_the_library(tmp_path):
    with World() as world:
        settings = settings_in(tmp_path, **world.environ())
    name, day = ArxivId("2011.04242", 1), date(2020, 11, 5)
    paper = Paper(name, "Scour", ("J. Okoye",), "An abstract.", day, day)
    document = Document("arxiv", name.locator, b"%PDF", "The scour hole was 2.3 metres deep.")
    Library(library_folder(settings.environ)).add(paper, document)
    record = await a_run(tmp_path / "traces", document, opening=run_header("arxiv", "arxiv"))
    (visit,) = await recheck(record, settings, tmp_path / "scratch")
    assert visit.standing is SourceStatus.UNREACHABLE


EXTERNAL_CITATIONS = [
    ("https://127.0.0.1:1/page", SourceStatus.UNREACHABLE, "127.0.0.1"),
    ("arXiv:2011.04242v1", SourceStatus.UNREACHABLE, ""),
    ("shelf 3, book 9", SourceStatus.UNKNOWN, "only oracle"),
    ("file:///etc/passwd", SourceStatus.UNKNOWN, "only oracle"),
    ("/etc/passwd", SourceStatus.UNKNOWN, "only oracle"),
]


@pytest.mark.parametrize("locator, standing, detail", EXTERNAL_CITATIONS)
async def test_citations_of_external_researchers_are_checked_by_their_locator(tmp_path, locator, standing, detail):
    with World() as world:
        settings = settings_in(tmp_path, **world.environ())
    members = [
        {"name": "oracle", "purpose": "", "settings": {"kind": "registered"}},
        {"name": "files", "purpose": "", "settings": {"kind": "files", "source": {"folders": []}}},
    ]
    opening = run_header("pi", "pi", researchers=members)
    record = await a_run(tmp_path / "traces", note(locator, "So it is."), opening=opening, found_by={locator: "oracle"})
    (visit,) = await recheck(record, settings, tmp_path / "scratch")
    assert (visit.standing, detail in visit.detail) == (standing, True)


async def test_a_run_of_an_unknown_researcher_cannot_be_checked(tmp_path):
    record = await a_run(tmp_path / "traces", note("x", "So it is."), opening=run_header("oracle", "oracle"))
    (visit,) = await recheck(record, settings_in(tmp_path), tmp_path / "scratch")
    assert (visit.standing, "'oracle'" in visit.detail) == (SourceStatus.UNKNOWN, True)
