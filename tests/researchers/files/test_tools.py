import os
import re
import socket
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import anyio
import pytest
from anyio import from_thread, to_thread
from anyio.lowlevel import current_token
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from marchwarden.audit.replay import rerun
from marchwarden.contract import Authority, GapCategory
from marchwarden.core.notebook import Hit, Query
from marchwarden.errors import InvalidInput, SourceError
from marchwarden.extraction import Extracted, Extractor
from marchwarden.loop.investigator import Investigator
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.protocols import PREPARE, WARNING, Progress
from marchwarden.researchers.files.spec import READABLE
from marchwarden.researchers.files.tools import RESCAN_SECONDS, FilesSource, rescan_factor
from marchwarden.storage.store import Store
from tests.extraction import samples
from tests.researchers.files.sample_folder import CountingExtractor, all_hits, fill, found, source

pytestmark = pytest.mark.slow


async def ignore_progress(_message: str) -> None:
    """Discard progress messages."""


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "tides.html").write_bytes(samples.PAGE)
    (folder / "report.pdf").write_bytes(samples.pdf(["Cheese is made of milk.", "Wine is made of grapes."]))
    (folder / "minutes.docx").write_bytes(samples.word())
    (folder / "whale.epub").write_bytes(samples.epub())
    (folder / "prices.csv").write_text("item,price\nlantern,12\nrope,3\n")
    (folder / "log.jsonl").write_text('{"event": "eclipse"}\n')
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "code.py").write_text("def quicksort(items):\n    return sorted(items)\n")
    (folder / "guide.rst").write_text("Guide\n=====\n\nOnly text.\n\nThe reserve is kept\nfor the conclusion.\n")
    return folder


@pytest.mark.parametrize(
    ("question", "name", "words", "place"),
    [
        ("tide in the Bay of Fundy", "tides.html", "sixteen metres", ""),
        ("What is wine made of?", "report.pdf", "grapes", "#page=2"),
        ("price of paint", "minutes.docx", "paint | 40 pounds", ""),
        ("Who is Ishmael?", "whale.epub", "Ishmael", "#chapter=1"),
        ("price of the lantern", "prices.csv", "lantern,12", "#L2"),
        ("eclipses", "log.jsonl", "eclipse", "#L1"),
        ("sorting with quicksort", "deep/er/code.py", "quicksort(items):\n    return", "#L1-L2"),
        ("is the reserve kept", "guide.rst", "kept\nfor", "#L6-L7"),
    ],
)
async def test_every_format_is_found_and_located(
    documents: Path, tmp_path: Path, question: str, name: str, words: str, place: str
) -> None:
    files = source(documents, tmp_path / "index")
    best = (await files.search(Query(question)))[0]
    assert (best.locator, best.score) == (f"{documents}/{name}", 1.0)
    document = await files.fetch(best)
    start = document.text.index(words)
    assert document.locate(start, start + len(words)) == f"{documents}/{name}{place}"
    assert document.content == (documents / name).read_bytes()
    assert (document.source, document.authority) == ("file", Authority.MEDIUM)


async def test_date_comes_from_the_document_not_the_file(documents: Path, tmp_path: Path) -> None:
    files = source(documents, tmp_path / "index")
    assert (await files.search(Query("tide Fundy")))[0].published == date(2021, 3, 4)
    assert (await files.search(Query("reserve conclusion")))[0].published is None


async def test_user_input_is_not_query_syntax(tmp_path: Path) -> None:
    fill(tmp_path / "documents")
    files = source(tmp_path / "documents", tmp_path / "index")
    for text in ('terms:"', "document:1", "NOT (", "* OR /.*/", "what's \\", "~^9 [a TO z]", "", "   ", "\x00", "..."):
        await files.search(Query(text))
    assert await found(files, 'lighthouse AND NOT "') == await found(files, "lighthouse")
    assert await found(files, "was")


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=80))
async def test_any_query_returns_ranked_hits(text: str, tmp_path: Path) -> None:
    fill(tmp_path / "documents", 3)
    files = FilesSource([tmp_path / "documents"], index_dir=tmp_path / "index", rescan_seconds=60)
    hits = await files.search(Query(text))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(0 < hit.score <= 1 for hit in hits)
    files.close()


async def test_locators_start_with_the_folder_as_given(tmp_path: Path) -> None:
    fill(tmp_path / "docs" / "wiki", 2)
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        for given_, shown in (("docs/wiki", "docs/wiki/note000.md"), (".", "docs/wiki/note000.md"), ("docs/", None)):
            files = FilesSource([given_], index_dir=tmp_path / "index")
            hit = (await files.search(Query("lighthouse")))[0]
            assert hit.locator == (shown or "docs/wiki/note000.md")
            assert (await files.fetch(hit)).locator == hit.locator
        single = FilesSource(["docs/wiki/note001.md"], index_dir=tmp_path / "index")
        assert [hit.locator for hit in await single.search(Query("note"))] == ["docs/wiki/note001.md"]
        place = {"path": str(tmp_path / "docs/wiki/note001.md"), "shown": "docs/wiki"}
        assert single.settings == {"folders": [place]}
    finally:
        os.chdir(before)


async def test_several_folders_are_ranked_together(tmp_path: Path) -> None:
    fill(tmp_path / "both" / "a", 12)
    (tmp_path / "both" / "b").mkdir()
    for number in (1, 5, 7, 9):
        (tmp_path / "both" / "a" / f"note{number:03}.md").rename(tmp_path / "both" / "b" / f"note{number:03}.md")
    one = source(tmp_path / "both", tmp_path / "index")
    two = FilesSource([tmp_path / "both" / "a", tmp_path / "both" / "b"], index_dir=tmp_path / "index")
    assert await all_hits(one) == await all_hits(two)


@pytest.mark.parametrize("folders", [["missing"], [], ["bad\x00name"]])
def test_missing_folder_is_invalid_input(folders: list[str], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        FilesSource(folders, index_dir=tmp_path)
    assert "\n" not in str(refused.value)


async def test_every_skipped_file_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("outside secret")
    (folder / "good.txt").write_text("inside words")
    (folder / "a.bin").write_bytes(b"\x00\x01")
    (folder / "b.bin").write_bytes(b"\x00\x01\x02")
    (folder / "huge.txt").write_text("x " * 600)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4")
    (folder / "away.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "away").symlink_to(tmp_path)
    (folder / "nowhere.txt").symlink_to("not-there")
    (folder / "round.txt").symlink_to("round.txt")
    (folder / "same.txt").symlink_to("good.txt")
    (folder / "loop").symlink_to(".")
    os.mkfifo(folder / "pipe")
    (folder / "esc\x1b[2J.bin").write_bytes(b"\x00")
    (folder / os.fsdecode(b"\xff.txt")).write_text("oddly named")
    for hidden in (".git", "node_modules", ".venv", "__pycache__"):
        (folder / hidden).mkdir()
        (folder / hidden / "hidden.txt").write_text("hidden words")
    (folder / ".env").write_text("KEY=words")
    files = source(folder, tmp_path / "index", max_file_bytes=1000)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "socket"))
        hits = [hit.locator for hit in await files.search(Query("words secret x oddly"))]
    assert hits == [f"{folder}/good.txt"]
    left_out = files.left_out()
    assert files.notices() == []
    assert left_out.summary == "skipped 12 files: 6 link or device, 3 binary, 2 unreadable, 1 too large"
    assert left_out.unread == (
        f"1 file skipped: a damaged PDF ({folder}/broken.pdf)",
        f"1 file skipped: larger than 0.001 MB ({folder}/huge.txt)",
        f"1 file skipped: the file name is not UTF-8 ({folder}/\ufffd.txt)",
    )
    assert files.warnings() == [
        (
            f"3 files could not be read: {folder}/broken.pdf and 2 more: "
            "a damaged PDF (1), larger than 0.001 MB (1), the file name is not UTF-8 (1)"
        )
    ]


async def test_long_list_of_skipped_files_is_truncated(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.pdf").write_bytes(b"%PDF-1.4")
    files = source(tmp_path, tmp_path / ".index")
    await files.search(Query("x"))
    names = ", ".join(f"{tmp_path}/{number}.pdf" for number in range(3))
    assert files.left_out().unread == (f"5 files skipped: a damaged PDF ({names}, ...)",)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a file that opens and cannot be read: Linux")
async def test_unreadable_file_is_reported(tmp_path: Path) -> None:
    files = FilesSource(["/proc/self/mem"], index_dir=tmp_path)
    assert await files.search(Query("anything")) == ()
    assert files.left_out().unread == ("1 file skipped: cannot be opened (Input/output error) (/proc/self/mem)",)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything: run as an ordinary user")
async def test_file_without_permission_is_reported(tmp_path: Path) -> None:
    fill(tmp_path / "documents", 2)
    (tmp_path / "documents" / "note000.md").chmod(0)
    files = source(tmp_path / "documents", tmp_path / "index")
    assert await found(files, "note") == ["note001.md"]
    assert "Permission denied" in files.left_out().unread[0]


@pytest.mark.parametrize(
    "name", ["../secret.txt", ".git/config", "link.txt", "linked/secret.txt", "pipe", "gone.txt", ""]
)
async def test_fetch_never_leaves_the_folder(name: str, tmp_path: Path) -> None:
    fill(tmp_path / "documents", 1)
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "documents" / "link.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "documents" / "linked").symlink_to(tmp_path)
    (tmp_path / "documents" / ".git").mkdir()
    (tmp_path / "documents" / ".git" / "config").write_text("secret")
    os.mkfifo(tmp_path / "documents" / "pipe")
    files = source(tmp_path / "documents", tmp_path / "index")
    await files.search(Query("note"))
    with pytest.raises(SourceError), anyio.fail_after(10):
        await files.fetch(Hit(f"{tmp_path}/documents/{name}"))


async def test_locator_outside_the_folders_is_not_found(tmp_path: Path) -> None:
    fill(tmp_path / "documents", 1)
    with pytest.raises(SourceError) as refused:
        await source(tmp_path / "documents", tmp_path / "index").fetch(Hit("/etc/passwd"))
    assert refused.value.category is GapCategory.SOURCE_NOT_FOUND


async def test_fetch_uses_the_indexed_text_unless_the_file_changed(tmp_path: Path) -> None:
    fill(tmp_path / "documents", 1)
    counting = CountingExtractor()
    files = source(tmp_path / "documents", tmp_path / "index", counting)
    hit = (await files.search(Query("note")))[0]
    await files.fetch(hit)
    assert counting.names == ["note000.md"]
    (tmp_path / "documents" / "note000.md").write_text("Something else entirely.")
    assert (await files.fetch(hit)).text == "Something else entirely."
    assert counting.names == ["note000.md"] * 2


async def test_folder_is_rescanned_only_after_a_pause(tmp_path: Path) -> None:
    fill(tmp_path / "documents", 1)
    files = FilesSource([tmp_path / "documents"], index_dir=tmp_path / "index", rescan_seconds=3600)
    assert await found(files, "note") == ["note000.md"]
    fill(tmp_path / "documents", 2)
    assert await found(files, "note") == ["note000.md"]
    files.close()
    assert sorted(await found(files, "note")) == ["note000.md", "note001.md"]


@pytest.mark.parametrize(("took", "times"), [(0.0, 1), (0.1, 1), (0.5, 5), (1.5, 15), (3600.0, 30)])
def test_slow_folders_are_rescanned_less_often(took: float, times: float) -> None:
    assert rescan_factor(took) == pytest.approx(times)


async def test_new_files_are_found_after_the_longer_pause_of_a_slow_scan(tmp_path: Path) -> None:
    clock = Clock()
    fill(tmp_path / "documents", 1)
    files = slow_source(tmp_path, clock, seconds=1.0)
    assert await found(files, "note") == ["note000.md"]
    fill(tmp_path / "documents", 2)
    clock.now += RESCAN_SECONDS * rescan_factor(1.0) - 0.1
    assert await found(files, "note") == ["note000.md"]
    clock.now += 0.2
    assert sorted(await found(files, "note")) == ["note000.md", "note001.md"]


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


class SlowExtractor(Extractor):
    """Advances the clock for every file."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        super().__init__()
        self._clock, self._seconds_each = clock, seconds

    def extract(self, content: bytes, name: str) -> Extracted:
        self._clock.now += self._seconds_each
        return super().extract(content, name)


def slow_source(folder: Path, clock: Clock, seconds: float) -> FilesSource:
    """Return a source that takes this many seconds of the clock for every file."""
    extractor = SlowExtractor(clock, seconds)
    return FilesSource([folder / "documents"], index_dir=folder / "index", extractor=extractor, clock=clock)


async def test_notices_do_not_wait_for_a_running_sync(tmp_path: Path) -> None:
    """One run may finish while another is indexing and reporting progress: neither may wait for the other."""
    fill(tmp_path / "documents", 3)
    files = slow_source(tmp_path, Clock(), seconds=2.0)
    ignore_progress: list[str] = []

    async def read_notices(message: str) -> None:
        with anyio.fail_after(5):
            await to_thread.run_sync(files.notices, abandon_on_cancel=True)
        ignore_progress.append(message)

    await files.ready(read_notices)
    assert re.fullmatch(r"indexing 1 of 3 files(, about \d+ s left)?", ignore_progress[0])


async def test_index_inside_the_folder_is_not_indexed(tmp_path: Path) -> None:
    fill(tmp_path, 2)
    files = source(tmp_path, tmp_path / "index")
    assert len(await found(files, "note")) == 2
    await files.search(Query("note"))
    assert files.notices() == []


class CancellingExtractor(Extractor):
    """Cancels a scope while it reads its third document."""

    def __init__(self, scope: anyio.CancelScope) -> None:
        super().__init__()
        self.scope = scope
        self.token = current_token()
        self.read = 0

    def extract(self, content: bytes, name: str) -> Extracted:
        self.read += 1
        if self.read == 3:
            from_thread.run_sync(self.scope.cancel, token=self.token)
        return super().extract(content, name)


async def test_cancelled_search_stops_indexing_at_the_next_file(tmp_path: Path) -> None:
    fill(tmp_path / "documents", 20)
    with anyio.CancelScope() as scope:
        cancelling = CancellingExtractor(scope)
        files = source(tmp_path / "documents", tmp_path / "index", cancelling, batch_files=1, threads=1)
        await files.search(Query("note"))
    assert scope.cancelled_caught
    # Up to two files are read ahead, and two more may be in progress.
    assert cancelling.read <= 7
    assert len(await found(files, "note")) == 20
    assert cancelling.read <= 25


async def test_concurrent_searches_agree(tmp_path: Path) -> None:
    fill(tmp_path / "documents")
    files = source(tmp_path / "documents", tmp_path / "index")
    answers: list[list[str]] = []

    async def ask() -> None:
        answers.append(await found(files, "old lighthouse"))

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(ask)
    assert len(answers) == 8
    assert all(answer == answers[0] != [] for answer in answers)


NOTHING_READABLE = {
    "empty": ({}, "no files (hidden files are ignored)"),
    "hidden": ({".notes.txt": b"some words"}, "no files (hidden files are ignored)"),
    "binary": ({"a.bin": b"\x00", "b.bin": b"\x00"}, "2 files skipped: binary (a.bin, b.bin)"),
    "blank": ({"a.txt": b"", "b.md": b"--- ..."}, "2 files without words"),
}


@pytest.mark.parametrize("name", NOTHING_READABLE)
async def test_folder_without_readable_files_is_rejected_with_what_was_found(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents, found_there = NOTHING_READABLE[name]
    documents = tmp_path / "documents"
    documents.mkdir()
    for path, content in contents.items():
        (documents / path).write_bytes(content)
    monkeypatch.chdir(documents)
    with pytest.raises(InvalidInput) as rejected:
        await source(Path(), tmp_path / "index").ready(ignore_progress)
    assert str(rejected.value) == f"nothing readable in .: {found_there}; readable files are {READABLE}"
    (documents / "readable.txt").write_text("some words")
    await source(Path(), tmp_path / "index").ready(ignore_progress)


async def test_one_readable_folder_is_enough(tmp_path: Path) -> None:
    fill(tmp_path / "documents", 1)
    (tmp_path / "empty").mkdir()
    await FilesSource([tmp_path / "empty", tmp_path / "documents"], index_dir=tmp_path / "index").ready(ignore_progress)


async def test_unread_files_are_a_gap_only_without_an_answer(tmp_path: Path) -> None:
    fill(tmp_path / "documents", 3)
    (tmp_path / "documents" / "broken.pdf").write_bytes(b"%PDF-1.4")
    (tmp_path / "documents" / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00")
    mind, reports = ExtractiveMind(), []

    async def keep(progress: Progress) -> None:
        reports.append((progress.step, progress.message))

    researcher = Investigator(
        source(tmp_path / "documents", tmp_path / "index"), mind, store=Store(tmp_path / "traces"), fallback=mind
    )
    answered = await researcher.research("When was the glacier of number 1 built?", progress=keep)
    assert answered.citations
    assert [gap for gap in answered.gaps if "broken.pdf" in gap.detail] == []
    assert (PREPARE, "skipped 2 files: 1 image, 1 unreadable") in reports
    warnings = [message for step, message in reports if step == WARNING]
    assert warnings == [f"1 file could not be read: {tmp_path}/documents/broken.pdf: a damaged PDF"]
    assert answered.cost_metadata.indexing_sec is not None
    unanswered = await researcher.research("zyzzyva xylophone?")
    assert not unanswered.citations
    assert [gap.detail for gap in unanswered.gaps if "broken.pdf" in gap.detail] == [
        f"1 file skipped: a damaged PDF ({tmp_path}/documents/broken.pdf)"
    ]
    again = await rerun(researcher.store, unanswered.trace_id, mind)
    assert again.differences == ()
