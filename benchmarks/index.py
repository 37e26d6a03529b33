"""Compare index build and query speed of the files researcher with the bare search engine, over the same passages.

    python -m benchmarks.index              text from the source of the standard library
    python -m benchmarks.index FOLDER       your documents; at least 20,000 passages

The bare engine gets prepared passages and only indexes and searches them. The files researcher also finds, hashes,
extracts and splits the files, stores their text, commits so that a killed run can continue, and ranks exactly. The time
for splitting, which is most of the difference, is printed separately.
"""

import argparse
import random
import shutil
import statistics
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import tantivy

from marchwarden.core.notebook import Query
from marchwarden.core.passages import Layout, split
from marchwarden.extraction import Extractor, Unreadable
from marchwarden.researchers.files.models import Folder, IndexSettings
from marchwarden.researchers.files.scan import read, scan
from marchwarden.researchers.files.tools import MAX_HITS, FilesSource

MIN_PASSAGES = 20_000
QUERIES = 300
WORDS_PER_QUERY = 6


@dataclass(frozen=True)
class ExtractedDocument:
    """The text of a document and its passages."""

    whole: str
    layout: Layout
    passages: list[str]


@dataclass(frozen=True)
class Duration:
    """Wall-clock and CPU seconds."""

    wall: float
    cpu: float


def measure_work(work: Callable[[], object]) -> Duration:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Duration(time.perf_counter() - wall, time.process_time() - cpu)


def copy_standard_library(folder: Path) -> None:
    """Copy modules of the standard library until there are enough passages."""
    made = 0
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if "site-packages" in path.parts or made > MIN_PASSAGES * 1.2:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        shutil.copy(path, folder / f"{made:06}_{path.name}")
        made += len(split(text, "lines"))


def load_documents(folder: Path) -> list[ExtractedDocument]:
    """Extract and split every document for the bare engine."""
    place, limit = Folder.at(folder), IndexSettings().max_file_bytes
    documents = []
    with Extractor() as extractor:
        for path in (path for listing in scan(place, max_bytes=limit, exclude=Path()) for path in listing.stamps):
            try:
                document = extractor.extract(read(place, path, limit), path)
            except Unreadable:
                continue
            passages = split(document.text, document.layout)
            pieces = [document.text[one.start : one.end] for one in passages]
            documents.append(ExtractedDocument(document.text, document.layout, pieces))
    return documents


class BareEngine:
    """The search engine alone, used as in its manual."""

    def __init__(self, folder: Path) -> None:
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("document", stored=True, tokenizer_name="raw")
        builder.add_text_field("body", tokenizer_name="en_stem")
        self.index = tantivy.Index(builder.build(), str(folder))

    def build(self, documents: list[ExtractedDocument]) -> None:
        writer = self.index.writer(64_000_000, 1)
        for number, document in enumerate(documents):
            for passage in document.passages:
                writer.add_document(tantivy.Document(document=str(number), body=passage))
        writer.commit()
        writer.wait_merging_threads()
        self.index.reload()

    def search(self, text: str) -> Sequence[str]:
        query, _ = self.index.parse_query_lenient(text, ["body"])
        searcher = self.index.searcher()
        hits = searcher.search(query, MAX_HITS, count=False).hits
        return [searcher.doc(address)["document"][0] for _, address in hits]


def random_queries(documents: list[ExtractedDocument]) -> list[str]:
    """Take a few consecutive words from random passages, always the same."""
    rng = random.Random(7)
    queries: list[str] = []
    while len(queries) < QUERIES:
        words = [word for word in rng.choice(rng.choice(documents).passages or [""]).split() if word.isalpha()]
        start = rng.randrange(len(words)) if words else 0
        if words[start : start + WORDS_PER_QUERY]:
            queries.append(" ".join(words[start : start + WORDS_PER_QUERY]))
    return queries


async def measure(folder: Path, scratch: Path) -> None:
    documents = load_documents(folder)
    count = sum(len(document.passages) for document in documents)
    print(f"{len(documents)} documents, {count} passages")
    if count < MIN_PASSAGES:
        sys.exit(f"Too few passages: at least {MIN_PASSAGES} are needed.")
    splitting = measure_work(lambda: [split(one.whole, one.layout) for one in documents])
    bare = BareEngine(scratch)
    bare_build = measure_work(lambda: bare.build(documents))
    files = FilesSource([folder], index_dir=scratch / "index", rescan_seconds=3600)
    wall, cpu = time.perf_counter(), time.process_time()
    await files.search(Query("warm up"))
    build = Duration(time.perf_counter() - wall, time.process_time() - cpu)
    print("\nindex build          wall s   CPU s  passages/s (wall)")
    for name, took in (("bare engine", bare_build), ("splitting", splitting), ("files researcher", build)):
        print(f"{name:18} {took.wall:8.2f} {took.cpu:7.2f} {count / took.wall:12.0f}")
    alone, both = build.cpu / bare_build.cpu, build.cpu / (bare_build.cpu + splitting.cpu)
    print(f"CPU: {alone:.2f} times the bare engine, {both:.2f} times splitting plus the bare engine")
    await compare_queries(bare, files, random_queries(documents))
    files.close()


async def compare_queries(bare: BareEngine, files: FilesSource, queries: Sequence[str]) -> None:
    bare_times, times = [], []
    for text in queries:
        bare_times.append(measure_work(partial(bare.search, text)).wall * 1000)
        start = time.perf_counter()
        await files.search(Query(text))
        times.append((time.perf_counter() - start) * 1000)
    print("\nquery              p50 ms  p95 ms")
    for name, took in (("bare engine", bare_times), ("files researcher", times)):
        print(f"{name:16} {statistics.median(took):8.2f} {statistics.quantiles(took, n=20)[-1]:7.2f}")
    print(f"{statistics.median(times) / statistics.median(bare_times):.2f} times the median of the bare engine")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    chosen = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as scratch:
        made, work = Path(scratch) / "text", Path(scratch) / "work"
        made.mkdir()
        work.mkdir()
        if chosen is None:
            copy_standard_library(made)
        anyio.run(measure, chosen or made, work)


if __name__ == "__main__":
    main()
