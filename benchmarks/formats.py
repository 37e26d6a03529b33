"""Measure how fast documents of each format are indexed, next to their parser alone.

    python -m benchmarks.formats FOLDER [--most 300]

Prints documents per CPU second, which is per core: the parser alone (this process), and indexing (this process and its
workers). Also prints the peak memory of this process, and the first ask over the web pages next to parsing them.
"""

import argparse
import os
import resource
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from marchwarden.extraction import Extractor, Unreadable, extract
from marchwarden.loop.investigator import Investigator
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.researchers.files.index import FolderIndex
from marchwarden.researchers.files.models import Folder, IndexSettings
from marchwarden.researchers.files.tools import FilesSource
from marchwarden.storage.store import Store

FORMATS = {".html": "HTML", ".htm": "HTML", ".pdf": "PDF", ".md": "Markdown", ".xlsx": "xlsx", ".docx": "Word"}
QUESTION = "What is the default value?"


@dataclass(frozen=True)
class Speed:
    """Documents and the seconds they took."""

    documents: int
    cpu: float
    wall: float

    @property
    def rate(self) -> float:
        return self.documents / max(self.cpu, 1e-9)


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its workers that have ended."""
    return sum(os.times()[:4])


def parse(paths: Sequence[Path]) -> Speed:
    cpu, wall, read = cpu_seconds(), time.perf_counter(), 0
    for path in paths:
        try:
            extract(path.read_bytes(), path.name)
        except Unreadable:
            continue
        read += 1
    return Speed(read, cpu_seconds() - cpu, time.perf_counter() - wall)


def index(folder: Path, scratch: Path) -> Speed:
    settings = IndexSettings()
    cpu, wall = cpu_seconds(), time.perf_counter()
    with Extractor(workers=settings.threads) as extractor:
        built = FolderIndex(Folder.at(folder), scratch, extractor, settings)
        built.sync(lambda: None)
        count = built.document_count
        built.close()
    return Speed(count, cpu_seconds() - cpu, time.perf_counter() - wall)


async def first_ask(folder: Path, scratch: Path) -> float:
    mind = ExtractiveMind()
    source = FilesSource([folder], index_dir=scratch / "first")
    researcher = Investigator(source, mind, store=Store(scratch / "traces"), fallback=mind)
    began = time.perf_counter()
    await researcher.research(QUESTION)
    took = time.perf_counter() - began
    source.close()
    return took


def copy_by_format(folder: Path, scratch: Path, most: int) -> dict[str, list[Path]]:
    """Copy at most this many documents of each format to a folder of their own."""
    copies: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.rglob("*")):
        name = FORMATS.get(path.suffix.lower(), "")
        if name and path.is_file() and len(copies[name]) < most:
            target = scratch / name / f"{len(copies[name]):05}{path.suffix}"
            target.parent.mkdir(parents=True, exist_ok=True)
            copies[name].append(Path(shutil.copy(path, target)))
    return copies


def measure(folder: Path, scratch: Path, most: int) -> None:
    copies = copy_by_format(folder, scratch / "documents", most)
    print("format     documents  parser/s  indexed/s  ratio  wall s (parser, index)")
    for name, paths in sorted(copies.items()):
        parsed, indexed = parse(paths), index(scratch / "documents" / name, scratch / "index")
        ratio = indexed.rate / parsed.rate
        print(
            f"{name:10} {indexed.documents:9} {parsed.rate:9.1f} {indexed.rate:10.1f} {ratio:6.2f}"
            f"  {parsed.wall:.1f}, {indexed.wall:.1f}",
            flush=True,
        )
        if name == "HTML":
            took = anyio.run(first_ask, scratch / "documents" / name, scratch)
            print(f"first ask over {len(paths)} pages: {took:.1f} s, {took / parsed.wall:.2f} times the parser alone")
    print(f"peak memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        measure(options.folder, Path(scratch), options.most)


if __name__ == "__main__":
    main()
