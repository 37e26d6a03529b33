"""Measure the cost of a question over 1,000, 10,000 and 100,000 documents.

    python -m benchmarks.growth [--most 100000] [--plot FILE.svg]

The questions are the same for all sizes; each is about a fact in the first 1,000 documents. An ask "with scan" first
checks the whole folder for changes, as the first ask of every process does. A plain ask does not check, because after a
scan the source waits for two seconds or twenty times the duration of the scan. Growth is measured in CPU time, which
other programs on the machine do not affect.
"""

import argparse
import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio

from benchmarks.ask import AskTimings, Timings, measure_duration, time_questions
from benchmarks.corpus import generate_documents, write_documents
from benchmarks.index import Duration
from benchmarks.plot import Line, plot
from marchwarden.core.notebook import Query
from marchwarden.loop.investigator import Investigator
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.researchers.files.tools import FilesSource
from marchwarden.storage.store import Store

SMALLEST = 1_000
STEP = 10
QUESTIONS = 60
SCANS = 10
STAMP_SECONDS = 2.5
"""Seconds until the time stamp of a new file is trusted. Before that, every scan reads the file again."""
NEVER = 86_400.0


@dataclass(frozen=True)
class Size:
    """Measurements for one number of documents."""

    documents: int
    build: Duration
    asking: AskTimings
    scan: Timings
    with_scan: Timings


async def measure_size(folder: Path, scratch: Path, count: int, questions: Sequence[str]) -> Size:
    """Build the index of a folder, then ask the questions."""
    index = scratch / f"index-{count}"
    source = FilesSource([folder], index_dir=index, rescan_seconds=NEVER)
    scanning = FilesSource([folder], index_dir=index, rescan_seconds=0.0)
    mind = ExtractiveMind()
    researcher = Investigator(source, mind, store=Store(scratch / f"traces-{count}"), fallback=mind)
    await anyio.sleep(STAMP_SECONDS)
    built = await measure_duration(partial(source.search, Query("warm up")))
    asking = await time_questions(researcher, questions)
    await _scan(scanning)
    scans = [await measure_duration(partial(_scan, scanning)) for _ in range(SCANS)]
    with_scan = [
        await measure_duration(partial(_ask_with_scan, scanning, researcher, question))
        for question in questions[:SCANS]
    ]
    source.close()
    scanning.close()
    return Size(count, built, asking, Timings(tuple(scans)), Timings(tuple(with_scan)))


async def _scan(scanning: FilesSource) -> None:
    """Check the whole folder, as a new process does. An open source relies on notifications of changes."""
    scanning.close()
    await scanning.ready(_ignore)


async def _ask_with_scan(scanning: FilesSource, researcher: Investigator, question: str) -> None:
    await _scan(scanning)
    await researcher.research(question)


async def _ignore(_message: str) -> None: ...


def render_table(sizes: Sequence[Size]) -> Iterator[str]:
    yield f"{'documents':26}" + "".join(f"{size.documents:>20}" for size in sizes)
    for kind, took in (("wall", [size.build.wall for size in sizes]), ("CPU", [size.build.cpu for size in sizes])):
        speeds = (size.documents / seconds for size, seconds in zip(sizes, took, strict=True))
        yield f"{f'documents/s, {kind}':26}" + "".join(f"{speed:20.0f}" for speed in speeds)
    for name, timings in _costs(sizes).items():
        kinds = {
            "p50 ms": [each.median for each in timings],
            "p95 ms": [each.p95 for each in timings],
            "CPU ms": [each.median_cpu for each in timings],
        }
        for kind, figures in kinds.items():
            cells = (f"{figure:.1f} ({figure / figures[0]:.2f}×)" for figure in figures)
            yield f"{f'{name}, {kind}':26}" + "".join(f"{cell:>20}" for cell in cells)


def compare_growth(sizes: Sequence[Size]) -> Iterator[str]:
    """Compare the growth of each cost with the logarithm of the number of documents."""
    first, last = sizes[0].documents, sizes[-1].documents
    allowed = math.log(last) / math.log(first)
    for name, timings in _costs(sizes).items():
        grew = timings[-1].median_cpu / timings[0].median_cpu
        verdict = "no worse" if grew <= allowed else "WORSE"
        yield f"{name}: {grew:.2f}× from {first} to {last} documents, {verdict} than logarithmic ({allowed:.2f}×)"


def draw_chart(sizes: Sequence[Size]) -> str:
    at = [size.documents for size in sizes]
    ask = [size.asking.ask.median_cpu for size in sizes]
    lines = [
        Line("ask", at, ask, "#1f618d"),
        Line("with scan", at, [size.with_scan.median_cpu for size in sizes], "#b9770e"),
        Line("retrieval", at, [size.asking.retrieval.median_cpu for size in sizes], "#1e8449"),
        Line("logarithmic", at, [ask[0] * math.log(one) / math.log(at[0]) for one in at], "#999", "4 4"),
    ]
    return plot("CPU time of a question as the number of documents grows", "documents", "CPU ms, median", lines)


def _costs(sizes: Sequence[Size]) -> dict[str, list[Timings]]:
    return {
        "retrieval": [size.asking.retrieval for size in sizes],
        "ask": [size.asking.ask for size in sizes],
        "scan": [size.scan for size in sizes],
        "ask with scan": [size.with_scan for size in sizes],
    }


async def measure(most: int, scratch: Path) -> list[Size]:
    source, folder = generate_documents(), scratch / "documents"
    questions: list[str] = []
    sizes: list[Size] = []
    written, count = 0, SMALLEST
    while count <= most:
        questions.extend(write_documents(folder, source, written, count))
        written = count
        sizes.append(await measure_size(folder, scratch, count, questions[:QUESTIONS]))
        count *= STEP
    return sizes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=100_000, help="largest number of documents")
    parser.add_argument("--plot", type=Path, help="write an SVG chart to this file")
    # Ignore the folder given to all benchmarks: this one generates its documents.
    options, _ = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as scratch:
        sizes = anyio.run(measure, options.most, Path(scratch))
    print("\n".join((*render_table(sizes), "", *compare_growth(sizes))))
    if options.plot:
        options.plot.write_text(draw_chart(sizes), encoding="utf-8")


if __name__ == "__main__":
    main()
