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
    assert counting.names == [f"note00{number}.md" for number in range(4)]
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

FolderIndex(Folder.at(documents), Path(index), Logging(), IndexSettings(batch_files=4)).sync(checkpoint)
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
    assert len(counting.names) + len(first) <= 24 + 4
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


async def test_index_locked_by_another_process_is_searched_without_update(tmp_path: Path) -> None:
    fill(tmp_path / "documents", 2)
    files = source(tmp_path / "documents", tmp_path / "index", lock_seconds=0.1)
    assert len(await found(files, "note")) == 2
    (lock,) = (tmp_path / "index").glob("*/lock")
    descriptor = hold(lock)
    fill(tmp_path / "documents", 3)
    try:
        assert len(await found(files, "note")) == 2
        assert files.notices() == ["another process is updating the index; searched without the latest changes"]
        newcomer = source(tmp_path / "documents", tmp_path / "index", lock_seconds=0.1)
        assert len(await found(newcomer, "note")) == 2
    finally:
        os.close(descriptor)
    assert len(await found(files, "note")) == 3
    assert len(await found(newcomer, "note")) == 3
    assert files.notices() == []


async def test_index_just_created_by_another_process_is_empty(tmp_path: Path) -> None:
    fill(tmp_path / "documents", 2)
    files = source(tmp_path / "documents", tmp_path / "index", lock_seconds=0.1)
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
    assert files.notices() == ["the index was damaged and has been rebuilt"]


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
def test_full_disk_keeps_the_index_and_is_reported(limit: int, tmp_path: Path) -> None:
    fill(tmp_path / "documents", 8)
    ended = run(FULL, tmp_path / "documents", tmp_path / "index", limit)
    assert ended.returncode == 0, ended.stderr
    before, after, full, later, afterwards = json.loads(ended.stdout)
    assert before == after > 0
    assert len(full) == 1
    assert "could not be updated" in full[0]
    assert (later, afterwards) == (30, [])


def test_score_equals_tantivys_without_deletions(tmp_path: Path) -> None:
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


def test_passages_that_tantivy_underrates_are_found(tmp_path: Path) -> None:
    words, postings = TermAnalyzer(), Postings(tmp_path)
    for number in range(300):
        postings.add(number, [words.analyze(f"common word{number % 3} " + "filler " * (number % 40))])
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
