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
from marchwarden.researchers.files.models import IndexBatch, IndexEntry
from marchwarden.researchers.files.postings import Postings
from marchwarden.researchers.files.store import IndexedDocument, IndexStore
from marchwarden.researchers.files.update import index_pending
from tests.researchers.files.shelf import CountingExtractor, all_hits, fill, found, note, source

ROOT = Path(__file__).parents[3]


def run(code: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    """A program of the test's in a process of its own."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


async def test_new_changed_and_deleted_files_are_noticed_and_only_they_are_read(tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    fill(shelf, 4)
    counting = CountingExtractor()
    files = source(shelf, tmp_path / "index", counting)
    await files.search(Query("note"))
    assert counting.names == [f"note00{number}.md" for number in range(4)]
    counting.names.clear()
    (shelf / "new.txt").write_text("A zeppelin over the town.")
    (shelf / "note001.md").write_text("A submarine under the sea.")
    (shelf / "note002.md").unlink()
    (shelf / "note003.md").touch()
    assert sorted(await found(files, "zeppelin submarine apples")) == [
        "new.txt",
        "note000.md",
        "note001.md",
        "note003.md",
    ]
    assert sorted(counting.names) == ["new.txt", "note001.md"]
    assert "note002.md" not in await found(files, "harbour note")


async def test_what_an_earlier_version_built_is_deleted_and_what_a_later_one_built_is_not(tmp_path: Path) -> None:
    shelf, index = tmp_path / "shelf", tmp_path / "index"
    fill(shelf, 2)
    await source(shelf, index).search(Query("note"))
    (built,) = index.glob("*/v*")
    earlier, later = built.with_name("v1"), built.with_name("v999")
    for other in (earlier, later):
        shutil.copytree(built, other)
    await source(shelf, index).search(Query("note"))
    assert sorted(index.glob("*/v*")) == sorted([built, later])


async def test_a_change_that_keeps_size_and_time_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "shelf" / "a.txt"
    path.parent.mkdir()
    path.write_text("aaaa")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    files = source(path.parent, tmp_path / "index")
    assert await found(files, "aaaa") == ["a.txt"]
    path.write_text("bbbb")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert await found(files, "bbbb") == ["a.txt"]


async def test_the_ranking_does_not_depend_on_how_the_index_came_about(tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    fill(shelf)
    at_once = source(shelf, tmp_path / "one")
    expected = await all_hits(at_once)
    assert all(expected)

    shutil.rmtree(shelf)
    fill(shelf, 40)
    for number in range(0, 24, 2):
        (shelf / f"note{number:03}.md").write_text("lighthouse railway volcano glacier apples seven " * (number + 1))
    in_pieces = source(shelf, tmp_path / "two", batch_files=1)
    assert await all_hits(in_pieces) != expected
    for number in range(24, 40):
        (shelf / f"note{number:03}.md").unlink()
    for number in range(0, 24, 2):
        (shelf / f"note{number:03}.md").write_text(note(number))
        await in_pieces.search(Query("note"))
    assert await all_hits(in_pieces) == expected
    assert await all_hits(at_once) == expected


KILLED = """
import os, signal, sys
from pathlib import Path
from marchwarden.extraction import Extractor
from marchwarden.researchers.files.index import FolderIndex
from marchwarden.researchers.files.models import Folder, IndexSettings

shelf, index, log, step = sys.argv[1:]

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

FolderIndex(Folder.at(shelf), Path(index), Logging(), IndexSettings(batch_files=4)).sync(checkpoint)
"""


@pytest.mark.parametrize("step", [6, 18, 29])
async def test_a_killed_run_is_not_started_over(step: int, tmp_path: Path) -> None:
    shelf, index, log = tmp_path / "shelf", tmp_path / "index", tmp_path / "log"
    fill(shelf)
    assert run(KILLED, shelf, index, log, step).returncode == -signal.SIGKILL
    first = log.read_text().split()
    assert 0 < len(first) < 24

    counting = CountingExtractor()
    resumed = source(shelf, index, counting)
    hits = await all_hits(resumed)
    assert len(counting.names) + len(first) <= 24 + 4
    assert set(first) | set(counting.names) == {f"note{number:03}.md" for number in range(24)}
    assert hits == await all_hits(source(shelf, tmp_path / "undisturbed"))
    assert resumed.notices() == []


class TornStore(IndexStore):
    """Dies after the postings were committed and before the store knows."""

    def mark_indexed(self, indexed: Iterable[IndexedDocument], doomed_ids: Iterable[int]) -> None:
        raise StorageError("torn")


def test_a_run_killed_between_the_two_commits_counts_nothing_twice(tmp_path: Path) -> None:
    batch = IndexBatch(
        entries=[
            IndexEntry(f"{number}.md", "", f"{number}", extract(note(number).encode(), "a.md")) for number in range(5)
        ]
    )
    torn, postings, words = TornStore(tmp_path / "store"), Postings(tmp_path / "postings"), TermAnalyzer()
    torn.record(batch)
    with pytest.raises(StorageError):
        index_pending(torn, postings, words, lambda: None)
    postings.release()
    held = postings.statistics(["apples"], 0).passages
    store = IndexStore(tmp_path / "store")
    index_pending(store, postings, words, lambda: None)
    postings.release()
    assert postings.statistics(["apples"], 0).passages == held == sum(len(split(note(number))) for number in range(5))
    assert list(store.pending()) == []
    torn.close()
    store.close()


def hold(path: Path) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


async def test_an_index_another_process_is_writing_is_searched_as_it_stands(tmp_path: Path) -> None:
    fill(tmp_path / "shelf", 2)
    files = source(tmp_path / "shelf", tmp_path / "index", lock_seconds=0.1)
    assert len(await found(files, "note")) == 2
    (lock,) = (tmp_path / "index").glob("*/lock")
    descriptor = hold(lock)
    fill(tmp_path / "shelf", 3)
    try:
        assert len(await found(files, "note")) == 2
        assert files.notices() == ["another process is updating the index; searched as it stands"]
        newcomer = source(tmp_path / "shelf", tmp_path / "index", lock_seconds=0.1)
        assert len(await found(newcomer, "note")) == 2
    finally:
        os.close(descriptor)
    assert len(await found(files, "note")) == 3
    assert len(await found(newcomer, "note")) == 3
    assert files.notices() == []


async def test_an_index_that_another_process_has_only_begun_is_empty_for_now(tmp_path: Path) -> None:
    fill(tmp_path / "shelf", 2)
    files = source(tmp_path / "shelf", tmp_path / "index", lock_seconds=0.1)
    await files.search(Query("note"))
    (lock,) = (tmp_path / "index").glob("*/lock")
    files.close()
    shutil.rmtree(next((tmp_path / "index").glob("*/v*")))
    descriptor = hold(lock)
    try:
        assert await found(files, "note") == []
    finally:
        os.close(descriptor)
    assert len(await found(files, "note")) == 2


def spoil_store(data: Path) -> None:
    for path in data.glob("documents.sqlite*"):
        path.write_bytes(b"nonsense" * 2000)


def spoil_table(data: Path) -> None:
    database = sqlite3.connect(data / "documents.sqlite")
    database.execute("ALTER TABLE documents RENAME COLUMN stamp TO stomp")
    database.commit()
    database.close()


def spoil_engine(data: Path) -> None:
    (data / "postings" / "meta.json").write_text("{")


def empty_segments(data: Path) -> None:
    for path in (data / "postings").iterdir():
        if path.suffix not in (".json", ".lock"):
            path.write_bytes(b"")


def lose_segments(data: Path) -> None:
    for path in (data / "postings").iterdir():
        if path.suffix not in (".json", ".lock"):
            path.unlink()


@pytest.mark.parametrize("spoil", [spoil_store, spoil_table, spoil_engine, empty_segments, lose_segments])
async def test_a_damaged_index_is_built_again_and_noticed(spoil, tmp_path: Path) -> None:
    fill(tmp_path / "shelf", 3)
    files = source(tmp_path / "shelf", tmp_path / "index")
    expected = await files.search(Query("old note"))
    files.close()
    spoil(next((tmp_path / "index").glob("*/v*")))
    assert await files.search(Query("old note")) == expected
    assert files.notices() == ["the index was damaged and has been built again"]


FULL = """
import json, resource, sys
from pathlib import Path
import anyio
from marchwarden.core.notebook import Query
from marchwarden.researchers.files.tools import FilesSource

async def main():
    files = FilesSource([sys.argv[1]], index_dir=Path(sys.argv[2]), rescan_seconds=0)
    before = await files.search(Query("railway"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
    for number in range(200):
        Path(sys.argv[1], f"more{number}.txt").write_text("zeppelin " + "word " * 400)
    after = await files.search(Query("railway"))
    full = files.notices()
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    later = await files.search(Query("zeppelin"))
    print(json.dumps([len(before), len(after), full, len(later), list(files.notices())]))

anyio.run(main)
"""


@pytest.mark.parametrize("limit", [4096, 30_000, 150_000])
def test_a_full_disk_leaves_what_is_there_and_says_so(limit: int, tmp_path: Path) -> None:
    fill(tmp_path / "shelf", 8)
    ended = run(FULL, tmp_path / "shelf", tmp_path / "index", limit)
    assert ended.returncode == 0, ended.stderr
    before, after, full, later, afterwards = json.loads(ended.stdout)
    assert before == after > 0
    assert len(full) == 1
    assert "could not be brought up to date" in full[0]
    assert (later, afterwards) == (30, [])


def test_our_score_is_the_engines_where_nothing_was_deleted(tmp_path: Path) -> None:
    words, postings = TermAnalyzer(), Postings(tmp_path)
    texts = [words.analyze(note(number) * (number % 7 + 1)) for number in range(60)]
    for number, text in enumerate(texts):
        postings.add(number, [text])
    postings.commit()
    terms = words.query_terms("Where did the old lighthouse burn beside the railway?")
    own = postings.statistics(terms, sum(map(len, texts)))
    best = postings.find_best(terms, Bm25Scorer(terms, own), own)
    assert len(best) > 20
    assert all(one.estimate == pytest.approx(one.score, rel=1e-5) for one in best)
    postings.release()


def test_passages_the_engine_underrates_are_still_among_the_best(tmp_path: Path) -> None:
    words, postings = TermAnalyzer(), Postings(tmp_path)
    for number in range(300):
        postings.add(number, [words.analyze(f"common word{number % 3} " + "filler " * (number % 40))])
    postings.commit()
    terms = words.query_terms("common word1")
    own = postings.statistics(terms, 6000)
    turned = Statistics(own.passages, own.words, {**own.frequencies, "common": 1, "word1": 300})
    best = {one.document for one in postings.find_best(terms, Bm25Scorer(terms, turned), own)}
    scorer = Bm25Scorer(terms, turned)
    scores = {
        number: scorer.score(words.analyze(f"common word{number % 3} " + "filler " * (number % 40)))
        for number in range(300)
    }
    floor = sorted(scores.values(), reverse=True)[63]
    assert best == {number for number, score in scores.items() if score >= floor}
    postings.release()


def test_stop_words_count_only_when_there_is_nothing_else() -> None:
    words = TermAnalyzer()
    assert words.query_terms("What is the budget's Reserve, and the budgets?") == ["budget", "reserv"]
    assert words.query_terms("to be or not to be") == ["be", "not", "or", "to"]
    assert words.analyze("Café_au lait") == ["cafe", "au", "lait"]
