import fcntl
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from marchwarden.core.notebook import Query
from marchwarden.core.passages import split
from marchwarden.errors import StorageError
from marchwarden.extraction import extract
from marchwarden.researchers.files.bm25 import Bm25Scorer, Statistics, TermAnalyzer
from marchwarden.researchers.files.index import lock_file
from marchwarden.researchers.files.models import IndexBatch, IndexEntry
from marchwarden.researchers.files.postings import Postings
from marchwarden.researchers.files.store import IndexedDocument, IndexStore
from marchwarden.researchers.files.tools import FilesSource
from marchwarden.researchers.files.update import index_pending
from tests.mounts import read_only
from tests.researchers.files.sample_folder import CountingExtractor, all_hits, fill, found, note, source

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


def run(code: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    """Run code in a subprocess."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


async def test_only_new_and_changed_files_are_read(tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    fill(documents, 4)
    counting = CountingExtractor()
    files = source(documents, tmp_path / "index", counting)
    await files.search(Query("note"))
    assert sorted(counting.names) == [f"note00{number}.md" for number in range(4)]
    counting.names.clear()
    (documents / "new.txt").write_text("A zeppelin over the town.")
    (documents / "note001.md").write_text("A submarine under the sea.")
    (documents / "note002.md").unlink()
    (documents / "note003.md").touch()
    assert sorted(await found(files, "zeppelin submarine apples")) == [
        "new.txt",
        "note000.md",
        "note001.md",
        "note003.md",
    ]
    assert sorted(counting.names) == ["new.txt", "note001.md"]
    assert "note002.md" not in await found(files, "harbour note")


async def test_indexes_of_earlier_versions_are_deleted_but_not_of_later_ones(tmp_path: Path) -> None:
    documents, index = tmp_path / "documents", tmp_path / "index"
    fill(documents, 2)
    await source(documents, index).search(Query("note"))
    (built,) = index.glob("*/v*")
    earlier, later = built.with_name("v1"), built.with_name("v999")
    for other in (earlier, later):
        shutil.copytree(built, other)
    await source(documents, index).search(Query("note"))
    assert sorted(index.glob("*/v*")) == sorted([built, later])


async def test_change_with_same_size_and_time_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "documents" / "a.txt"
    path.parent.mkdir()
    path.write_text("aaaa")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    files = source(path.parent, tmp_path / "index")
    assert await found(files, "aaaa") == ["a.txt"]
    path.write_text("bbbb")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert await found(files, "bbbb") == ["a.txt"]


async def test_ranking_is_independent_of_how_the_index_was_built(tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    fill(documents)
    at_once = source(documents, tmp_path / "one")
    expected = await all_hits(at_once)
    assert all(expected)

    shutil.rmtree(documents)
    fill(documents, 40)
    for number in range(0, 24, 2):
        (documents / f"note{number:03}.md").write_text(
            "lighthouse railway volcano glacier apples seven " * (number + 1)
        )
    in_pieces = source(documents, tmp_path / "two", batch_files=1)
    assert await all_hits(in_pieces) != expected
    for number in range(24, 40):
        (documents / f"note{number:03}.md").unlink()
    for number in range(0, 24, 2):
        (documents / f"note{number:03}.md").write_text(note(number))
        await in_pieces.search(Query("note"))
    assert await all_hits(in_pieces) == expected
    assert await all_hits(at_once) == expected


KILLED = """
import os, signal, sys
from pathlib import Path
from marchwarden.extraction import Extractor
from marchwarden.researchers.files.index import FolderIndex
from marchwarden.researchers.files.models import Folder, IndexSettings

documents, index, log, step = sys.argv[1:]

class Logging(Extractor):
    def extract(self, content, name):
        with open(log, "a") as lines:
            lines.write(name + "\\n")
        return super().extract(content, name)

steps = 0
def checkpoint():
    global steps
    steps += 1
    if steps == int(step):
        os.kill(os.getpid(), signal.SIGKILL)

FolderIndex(Folder.at(documents), Path(index), Logging(), IndexSettings(batch_files=4, threads=2)).sync(checkpoint)
"""


@pytest.mark.parametrize("step", [6, 18, 29])
async def test_killed_run_is_continued(step: int, tmp_path: Path) -> None:
    documents, index, log = tmp_path / "documents", tmp_path / "index", tmp_path / "log"
    fill(documents)
    assert run(KILLED, documents, index, log, step).returncode == -signal.SIGKILL
    first = log.read_text().split()
    assert 0 < len(first) < 24

    counting = CountingExtractor()
    resumed = source(documents, index, counting)
    hits = await all_hits(resumed)
    # At most one batch and the files read ahead are read twice.
    assert len(counting.names) + len(first) <= 24 + 4 + 2 * 2
    assert set(first) | set(counting.names) == {f"note{number:03}.md" for number in range(24)}
    assert hits == await all_hits(source(documents, tmp_path / "undisturbed"))
    assert resumed.notices() == []


class CrashingStore(IndexStore):
    """Fails after the postings were committed and before the store is updated."""

    def mark_indexed(self, indexed: Iterable[IndexedDocument], doomed_ids: Iterable[int]) -> None:
        raise StorageError("crashing")


def test_kill_between_the_two_commits_counts_nothing_twice(tmp_path: Path) -> None:
    batch = IndexBatch(
        entries=[
            IndexEntry(f"{number}.md", "", f"{number}", extract(note(number).encode(), "a.md")) for number in range(5)
        ]
    )
    crashing, postings, analyzer = CrashingStore(tmp_path / "store"), Postings(tmp_path / "postings"), TermAnalyzer()
    crashing.record(batch)
    with pytest.raises(StorageError):
        index_pending(crashing, postings, analyzer, lambda: None)
    postings.release()
    held = postings.statistics(["apples"], 0).passages
    store = IndexStore(tmp_path / "store")
    index_pending(store, postings, analyzer, lambda: None)
    postings.release()
    assert postings.statistics(["apples"], 0).passages == held == sum(len(split(note(number))) for number in range(5))
    assert list(store.pending()) == []
    crashing.close()
    store.close()


def hold(path: Path) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


async def test_index_locked_by_another_process_is_copied_to_memory(tmp_path: Path) -> None:
    fill(tmp_path / "documents", 2)
    await source(tmp_path / "documents", tmp_path / "index").search(Query("note"))
    (lock,) = (tmp_path / "index").glob("*/lock")
    descriptor = hold(lock)
    fill(tmp_path / "documents", 3)
    counting = CountingExtractor()
    files = source(tmp_path / "documents", tmp_path / "index", counting, lock_seconds=0.1)
    try:
        assert len(await found(files, "note")) == 3
        assert counting.names == ["note002.md"]
        assert "another process has locked it" in one_warning(files)
        assert files.notices() == []
    finally:
        os.close(descriptor)


async def test_index_just_created_by_another_process_is_not_awaited(tmp_path: Path) -> None:
    fill(tmp_path / "documents", 2)
    expected = await all_hits(source(tmp_path / "documents", tmp_path / "other"))
    await source(tmp_path / "documents", tmp_path / "index").search(Query("note"))
    (lock,) = (tmp_path / "index").glob("*/lock")
    shutil.rmtree(next((tmp_path / "index").glob("*/v*")))
    descriptor = hold(lock)
    try:
        assert await all_hits(source(tmp_path / "documents", tmp_path / "index", lock_seconds=0.1)) == expected
    finally:
        os.close(descriptor)


async def test_another_process_that_saves_documents_is_awaited(tmp_path: Path) -> None:
    fill(tmp_path / "documents", 2)
    await source(tmp_path / "documents", tmp_path / "index").search(Query("note"))
    (lock,) = (tmp_path / "index").glob("*/lock")
    saved = next((tmp_path / "index").glob("*/v*/documents.sqlite")).with_name("documents.sqlite-wal")
    descriptor = hold(lock)
    looks = 0

    def last_change() -> int:
        nonlocal looks
        looks += 1
        saved.write_bytes(bytes(looks))
        if looks == 20:
            os.close(descriptor)
        return looks

    with lock_file(lock, 0.1, lambda: None, last_change) as acquired:
        assert acquired


def corrupt_store(data: Path) -> None:
    for path in data.glob("documents.sqlite*"):
        path.write_bytes(b"nonsense" * 2000)


def corrupt_table(data: Path) -> None:
    database = sqlite3.connect(data / "documents.sqlite")
    database.execute("ALTER TABLE documents RENAME COLUMN stamp TO stomp")
    database.commit()
    database.close()


def corrupt_postings(data: Path) -> None:
    (data / "postings" / "meta.json").write_text("{")


def empty_segments(data: Path) -> None:
    for path in (data / "postings").iterdir():
        if path.suffix not in (".json", ".lock"):
            path.write_bytes(b"")


def lose_segments(data: Path) -> None:
    for path in (data / "postings").iterdir():
        if path.suffix not in (".json", ".lock"):
            path.unlink()


@pytest.mark.parametrize("corrupt", [corrupt_store, corrupt_table, corrupt_postings, empty_segments, lose_segments])
async def test_damaged_index_is_rebuilt_and_reported(corrupt, tmp_path: Path) -> None:
    fill(tmp_path / "documents", 3)
    files = source(tmp_path / "documents", tmp_path / "index")
    expected = await files.search(Query("old note"))
    files.close()
    corrupt(next((tmp_path / "index").glob("*/v*")))
    assert await files.search(Query("old note")) == expected
    assert files.warnings() == ["the index was damaged and has been rebuilt"]
    assert files.notices() == []


FULL = """
import json, resource, sys
from pathlib import Path
import anyio
from marchwarden.core.notebook import Query
from marchwarden.researchers.files.tools import FilesSource
from tests.mounts import read_only
from tests.researchers.files.sample_folder import fill

async def main():
    documents = Path(sys.argv[1])
    fill(documents, 1)
    files = FilesSource([documents], index_dir=Path(sys.argv[2]), rescan_seconds=0)
    if sys.argv[4] == "later":
        fill(documents, 100)
        await files.search(Query("railway"))
    fill(documents, 200)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
    found = [[hit.locator, hit.score] for hit in await files.search(Query("railway orchard"))]
    print(json.dumps([found, files.notices(), files.warnings()]))

anyio.run(main)
"""


@pytest.mark.parametrize("limit", [0, 4096, 30_000, 150_000])
@pytest.mark.parametrize("when", ["from the start", "later"])
async def test_full_disk_does_not_change_what_is_found(limit: int, when: str, tmp_path: Path) -> None:
    ended = run(FULL, tmp_path / "documents", tmp_path / "index", limit, when)
    assert ended.returncode == 0, ended.stderr
    hits, notices, warnings = json.loads(ended.stdout)
    undisturbed = await source(tmp_path / "documents", tmp_path / "undisturbed").search(Query("railway orchard"))
    assert hits == [[hit.locator, hit.score] for hit in undisturbed]
    assert notices == []
    assert len(warnings) == 1
    assert "it is kept in memory instead" in warnings[0]


def a_file(path: Path) -> Path:
    path.write_text("in the way")
    return path


UNWRITABLE = {
    "a file": (a_file, "Not a directory"),
    "below a file": (lambda path: a_file(path) / "index", "Not a directory"),
    "proc": (lambda _path: Path("/proc/marchwarden"), "No such file or directory"),
    "a long name": (lambda path: path / ("x" * 300), "File name too long"),
}


@pytest.mark.parametrize("name", UNWRITABLE)
async def test_index_that_cannot_be_created_is_kept_in_memory(name: str, tmp_path: Path) -> None:
    fill(tmp_path / "documents", 20)
    expected = await all_hits(source(tmp_path / "documents", tmp_path / "index"))
    place, reason = UNWRITABLE[name]
    files = source(tmp_path / "documents", place(tmp_path / "unwritable"))
    assert await all_hits(files) == expected
    assert reason in one_warning(files)
    fill(tmp_path / "documents", 21)
    assert "note020.md" in await found(files, "harbour note")
    assert one_warning(files)


async def test_index_on_a_read_only_file_system_is_copied_to_memory(tmp_path: Path) -> None:
    fill(tmp_path / "documents", 20)
    index = tmp_path / "index"
    writing = source(tmp_path / "documents", index)
    expected = await all_hits(writing)
    writing.close()
    counting = CountingExtractor()
    with read_only(index):
        files = source(tmp_path / "documents", index, counting)
        assert await all_hits(files) == expected
    assert "Read-only file system" in one_warning(files)
    assert counting.names == []


async def test_damaged_index_on_a_read_only_file_system_is_replaced_in_memory(tmp_path: Path) -> None:
    fill(tmp_path / "documents", 20)
    index = tmp_path / "index"
    expected = await all_hits(source(tmp_path / "documents", index))
    corrupt_table(next(index.glob("*/v*")))
    with read_only(index):
        assert await all_hits(source(tmp_path / "documents", index)) == expected


def one_warning(files: FilesSource) -> str:
    (warning,) = files.warnings()
    return warning


def test_score_equals_tantivys_without_deletions(tmp_path: Path) -> None:
    words, postings = TermAnalyzer(), Postings(tmp_path)
    texts = [words.analyze(note(number) * (number % 7 + 1)) for number in range(60)]
    for number, text in enumerate(texts):
        postings.add(number, text)
    postings.commit()
    terms = words.query_terms("Where did the old lighthouse burn beside the railway?")
    own = postings.statistics(terms, sum(map(len, texts)))
    best = postings.find_best(terms, Bm25Scorer(terms, own), own)
    assert len(best) > 20
    assert all(one.estimate == pytest.approx(one.score, rel=1e-5) for one in best)
    postings.release()


def test_passages_that_tantivy_underrates_are_found(tmp_path: Path) -> None:
    words, postings = TermAnalyzer(), Postings(tmp_path)
    for number in range(300):
        postings.add(number, words.analyze(f"common word{number % 3} " + "filler " * (number % 40)))
    postings.commit()
    terms = words.query_terms("common word1")
    own = postings.statistics(terms, 6000)
    changed = Statistics(own.passages, own.words, {**own.frequencies, "common": 1, "word1": 300})
    best = {one.document for one in postings.find_best(terms, Bm25Scorer(terms, changed), own)}
    scorer = Bm25Scorer(terms, changed)
    scores = {
        number: scorer.score(words.analyze(f"common word{number % 3} " + "filler " * (number % 40)))
        for number in range(300)
    }
    floor = sorted(scores.values(), reverse=True)[63]
    assert best == {number for number, score in scores.items() if score >= floor}
    postings.release()


def test_stop_words_are_used_only_if_there_are_no_others() -> None:
    words = TermAnalyzer()
    assert words.query_terms("What is the budget's Reserve, and the budgets?") == ["budget", "reserv"]
    assert words.query_terms("to be or not to be") == ["be", "not", "or", "to"]
    assert words.analyze("Café_au lait") == ["cafe", "au", "lait"]
