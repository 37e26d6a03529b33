"""Index build and query speed of the files researcher beside the bare engine, in one run over the same passages.

    python -m benchmarks.index              text made from the standard library's own source
    python -m benchmarks.index FOLDER       a folder of documents; at least 20 000 passages are wanted

The bare engine gets every passage ready-made and does nothing but index and search it. The files researcher finds the
files, hashes, extracts and splits them, keeps their text, commits so that a killed run can go on, and ranks exactly.
The time splitting alone takes is printed too: it is most of the difference.
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
from marchwarden.researchers.files.models import Folder, FoundFile, IndexSettings
from marchwarden.researchers.files.scan import read, scan
from marchwarden.researchers.files.tools import MOST_HITS, FilesSource

ENOUGH = 20_000
QUERIES = 300
WORDS_ASKED = 6


@dataclass(frozen=True)
class Text:
    """A document's text, and its passages ready-made."""

    whole: str
    layout: Layout
    passages: list[str]


@dataclass(frozen=True)
class Spent:
    """Wall and processor seconds."""

    wall: float
    cpu: float


def spent(work: Callable[[], object]) -> Spent:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Spent(time.perf_counter() - wall, time.process_time() - cpu)


def standard_library(folder: Path) -> None:
    """Copy the standard library's modules until they make passages enough."""
    made = 0
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if "site-packages" in path.parts or made > ENOUGH * 1.2:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        shutil.copy(path, folder / f"{made:06}_{path.name}")
        made += len(split(text, "lines"))


def texts(folder: Path) -> list[Text]:
    """Every document's text with the passages of it, for the bare engine."""
    place, limit = Folder.at(folder), IndexSettings().largest_file
    documents = []
    with Extractor() as extractor:
        for found in scan(place, largest=limit, leave_out=Path()):
            if isinstance(found, FoundFile):
                try:
                    document = extractor.extract(read(place, found.path, limit), found.path)
                except Unreadable:
                    continue
                passages = split(document.text, document.layout)
                pieces = [document.text[one.start : one.end] for one in passages]
                documents.append(Text(document.text, document.layout, pieces))
    return documents


class Bare:
    """The engine by itself, as its manual shows it."""

    def __init__(self, folder: Path) -> None:
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("document", stored=True, tokenizer_name="raw")
        builder.add_text_field("body", tokenizer_name="en_stem")
        self.index = tantivy.Index(builder.build(), str(folder))

    def build(self, documents: list[Text]) -> None:
        writer = self.index.writer(64_000_000, 1)
        for number, document in enumerate(documents):
            for passage in document.passages:
                writer.add_document(tantivy.Document(document=str(number), body=passage))
        writer.commit()
        writer.wait_merging_threads()
        self.index.reload()

    def ask(self, text: str) -> Sequence[str]:
        query, _ = self.index.parse_query_lenient(text, ["body"])
        searcher = self.index.searcher()
        hits = searcher.search(query, MOST_HITS, count=False).hits
        return [searcher.doc(address)["document"][0] for _, address in hits]


def questions(documents: list[Text]) -> list[str]:
    """A few words in a row from passages drawn at random, the same every time."""
    drawing = random.Random(7)
    asked: list[str] = []
    while len(asked) < QUERIES:
        words = [word for word in drawing.choice(drawing.choice(documents).passages or [""]).split() if word.isalpha()]
        start = drawing.randrange(len(words)) if words else 0
        if words[start : start + WORDS_ASKED]:
            asked.append(" ".join(words[start : start + WORDS_ASKED]))
    return asked


async def measure(folder: Path, scratch: Path) -> None:
    documents = texts(folder)
    count = sum(len(document.passages) for document in documents)
    print(f"{len(documents)} documents, {count} passages")
    if count < ENOUGH:
        sys.exit(f"too few: at least {ENOUGH} passages are wanted")
    splitting = spent(lambda: [split(one.whole, one.layout) for one in documents])
    bare = Bare(scratch)
    bare_build = spent(lambda: bare.build(documents))
    files = FilesSource([folder], index_dir=scratch / "index", rescan_seconds=3600)
    wall, cpu = time.perf_counter(), time.process_time()
    await files.search(Query("warm up"))
    build = Spent(time.perf_counter() - wall, time.process_time() - cpu)
    print("\nindex build          wall s   CPU s  passages/s (wall)")
    for name, took in (("bare engine", bare_build), ("splitting alone", splitting), ("files researcher", build)):
        print(f"{name:18} {took.wall:8.2f} {took.cpu:7.2f} {count / took.wall:12.0f}")
    alone, both = build.cpu / bare_build.cpu, build.cpu / (bare_build.cpu + splitting.cpu)
    print(f"CPU: {alone:.2f} times the bare engine, {both:.2f} times splitting and the bare engine together")
    await ask(bare, files, questions(documents))
    files.close()


async def ask(bare: Bare, files: FilesSource, asked: Sequence[str]) -> None:
    bare_times, times = [], []
    for text in asked:
        bare_times.append(spent(partial(bare.ask, text)).wall * 1000)
        start = time.perf_counter()
        await files.search(Query(text))
        times.append((time.perf_counter() - start) * 1000)
    print("\nquery              p50 ms  p95 ms")
    for name, took in (("bare engine", bare_times), ("files researcher", times)):
        print(f"{name:16} {statistics.median(took):8.2f} {statistics.quantiles(took, n=20)[-1]:7.2f}")
    print(f"{statistics.median(times) / statistics.median(bare_times):.2f} times the bare engine's median")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    chosen = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as scratch:
        made, work = Path(scratch) / "text", Path(scratch) / "work"
        made.mkdir()
        work.mkdir()
        if chosen is None:
            standard_library(made)
        anyio.run(measure, chosen or made, work)


if __name__ == "__main__":
    main()
