"""Measure how fast documents of each format are read and indexed, next to a bare parser on the same documents.

    python -m benchmarks.formats FOLDER [--most 300]

Prints documents per CPU second, which is per core: the bare parser (trafilatura, PDFium, calamine, markdown-it or
python-docx), our reader in this process, and indexing (this process and its workers). Also prints the peak memory of
this process, and the first ask over the web pages next to the bare parser.
"""

import argparse
import io
import resource
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import docx
import pypdfium2
import python_calamine
import trafilatura
from markdown_it import MarkdownIt

from marchwarden.extraction import Extractor, Unreadable, extract
from marchwarden.extraction.charset import decode
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
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def parse_pdf(content: bytes) -> None:
    document = pypdfium2.PdfDocument(content)
    for page in document:
        page.get_textpage().get_text_bounded()
    document.close()


def parse_workbook(content: bytes) -> None:
    workbook = python_calamine.load_workbook(io.BytesIO(content))
    for name in workbook.sheet_names:
        workbook.get_sheet_by_name(name).to_python()


BARE: Mapping[str, Callable[[bytes], object]] = {
    "HTML": lambda content: trafilatura.extract(decode(content), include_comments=False),
    "PDF": parse_pdf,
    "xlsx": parse_workbook,
    "Markdown": lambda content: MarkdownIt("commonmark").enable("table").parse(decode(content)),
    "Word": lambda content: [each.text for each in docx.Document(io.BytesIO(content)).paragraphs],
}


def _ignore_name(parse: Callable[[bytes], object], content: bytes, _name: str) -> object:
    return parse(content)


def read_all(paths: Sequence[Path], read: Callable[[bytes, str], object]) -> Speed:
    """Read documents in this process. The first one is read twice: it loads the parser."""
    contents = [(path.read_bytes(), path.name) for path in paths]
    read_one(*contents[0], read)
    cpu, wall = cpu_seconds(), time.perf_counter()
    count = sum(read_one(content, name, read) for content, name in contents)
    return Speed(count, cpu_seconds() - cpu, time.perf_counter() - wall)


def read_one(content: bytes, name: str, read: Callable[[bytes, str], object]) -> bool:
    try:
        read(content, name)
    except (Unreadable, ValueError, OSError):
        return False
    return True


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
    print("format     documents  bare/s  reader/s  indexed/s  reader:bare  indexed:bare")
    for name, paths in sorted(copies.items()):
        parsed = read_all(paths, partial(_ignore_name, BARE[name]))
        reader, indexed = read_all(paths, extract), index(scratch / "documents" / name, scratch / "index")
        print(
            f"{name:10} {indexed.documents:9} {parsed.rate:7.1f} {reader.rate:9.1f} {indexed.rate:10.1f}"
            f" {reader.rate / parsed.rate:12.2f} {indexed.rate / parsed.rate:13.2f}",
            flush=True,
        )
        if name == "HTML":
            took = anyio.run(first_ask, scratch / "documents" / name, scratch)
            print(f"first ask over {len(paths)} pages: {took:.1f} s, {took / parsed.wall:.2f} times the bare parser")
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
