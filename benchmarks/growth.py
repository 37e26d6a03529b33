"""What an ask costs as the documents grow in number: one thousand, ten thousand, a hundred thousand.

    python -m benchmarks.growth [--most 100000] [--plot FILE.svg]

The same questions are asked over all sizes; each is about a fact in the first thousand documents. An ask "after a
pause" first looks through the whole folder for what has changed, as the first ask of every process does. For two
seconds after a look, or twenty times what it took, nobody looks again: that is the plain ask. How a cost grows is told
by processor time, which other programs on the machine do not change.
"""

import argparse
import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio

from benchmarks.asking import Asking, Waits, timed, waited
from benchmarks.corpus import documents, laid_out
from benchmarks.index import Spent
from benchmarks.plot import Line, plot
from marchwarden.core.notebook import Query
from marchwarden.loop.investigator import Investigator
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.researchers.files.tools import FilesSource
from marchwarden.storage.store import Store

FEWEST = 1_000
STEP = 10
ASKED = 60
PAUSED = 10
SETTLED = 2.5
"""Seconds until a new file's stamp is believed; before, every look reads the file again."""
NEVER = 86_400.0


@dataclass(frozen=True)
class Size:
    """What was measured over so many documents."""

    documents: int
    build: Spent
    asking: Asking
    look: Waits
    paused: Waits


async def measured(folder: Path, scratch: Path, count: int, asked: Sequence[str]) -> Size:
    """Build the index of a folder from nothing, then ask."""
    index = scratch / f"index-{count}"
    source = FilesSource([folder], index_dir=index, rescan_seconds=NEVER)
    looking = FilesSource([folder], index_dir=index, rescan_seconds=0.0)
    mind = ExtractiveMind()
    researcher = Investigator(source, mind, store=Store(scratch / f"traces-{count}"), fallback=mind)
    await anyio.sleep(SETTLED)
    built = await timed(partial(source.search, Query("warm up")))
    asking = await waited(researcher, asked)
    await looking.ready(_tell_nobody)
    look = [await timed(partial(looking.ready, _tell_nobody)) for _ in range(PAUSED)]
    paused = [await timed(partial(_after_a_pause, looking, researcher, question)) for question in asked[:PAUSED]]
    source.close()
    looking.close()
    return Size(count, built, asking, Waits(tuple(look)), Waits(tuple(paused)))


async def _after_a_pause(looking: FilesSource, researcher: Investigator, question: str) -> None:
    await looking.ready(_tell_nobody)
    await researcher.research(question)


async def _tell_nobody(_message: str) -> None: ...


def table(sizes: Sequence[Size]) -> Iterator[str]:
    yield f"{'documents':26}" + "".join(f"{size.documents:>20}" for size in sizes)
    for kind, took in (("wall", [size.build.wall for size in sizes]), ("CPU", [size.build.cpu for size in sizes])):
        speeds = (size.documents / seconds for size, seconds in zip(sizes, took, strict=True))
        yield f"{f'indexed per s of {kind}':26}" + "".join(f"{speed:20.0f}" for speed in speeds)
    for name, waits in _costs(sizes).items():
        kinds = {
            "p50 ms": [each.median for each in waits],
            "p95 ms": [each.tail for each in waits],
            "CPU ms": [each.work for each in waits],
        }
        for kind, figures in kinds.items():
            cells = (f"{figure:.1f} ({figure / figures[0]:.2f}×)" for figure in figures)
            yield f"{f'{name}, {kind}':26}" + "".join(f"{cell:>20}" for cell in cells)


def verdicts(sizes: Sequence[Size]) -> Iterator[str]:
    """For each cost what it grew to, beside what the logarithm of the number of documents grew to."""
    first, last = sizes[0].documents, sizes[-1].documents
    allowed = math.log(last) / math.log(first)
    for name, waits in _costs(sizes).items():
        grew = waits[-1].work / waits[0].work
        told = "no worse" if grew <= allowed else "WORSE"
        yield f"{name}: {grew:.2f}× from {first} to {last} documents, {told} than logarithmic ({allowed:.2f}×)"


def picture(sizes: Sequence[Size]) -> str:
    at = [size.documents for size in sizes]
    ask = [size.asking.ask.work for size in sizes]
    lines = [
        Line("one ask", at, ask, "#1f618d"),
        Line("after a pause", at, [size.paused.work for size in sizes], "#b9770e"),
        Line("retrieval alone", at, [size.asking.retrieval.work for size in sizes], "#1e8449"),
        Line("logarithmic", at, [ask[0] * math.log(one) / math.log(at[0]) for one in at], "#999", "4 4"),
    ]
    return plot("What an ask costs as documents grow in number", "documents", "CPU milliseconds, median", lines)


def _costs(sizes: Sequence[Size]) -> dict[str, list[Waits]]:
    return {
        "retrieval alone": [size.asking.retrieval for size in sizes],
        "one ask": [size.asking.ask for size in sizes],
        "a look": [size.look for size in sizes],
        "ask after a pause": [size.paused for size in sizes],
    }


async def measure(most: int, scratch: Path) -> list[Size]:
    source, folder = documents(), scratch / "documents"
    asked: list[str] = []
    sizes: list[Size] = []
    written, count = 0, FEWEST
    while count <= most:
        asked.extend(laid_out(folder, source, written, count))
        written = count
        sizes.append(await measured(folder, scratch, count, asked[:ASKED]))
        count *= STEP
    return sizes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=100_000, help="stop after so many documents")
    parser.add_argument("--plot", type=Path, help="draw it as SVG there")
    # A folder named for all benchmarks is nothing to this one, which makes its own.
    given, _ = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as scratch:
        sizes = anyio.run(measure, given.most, Path(scratch))
    print("\n".join((*table(sizes), "", *verdicts(sizes))))
    if given.plot:
        given.plot.write_text(picture(sizes), encoding="utf-8")


if __name__ == "__main__":
    main()
