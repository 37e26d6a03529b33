"""One warm `ask` over an index that is there, beside its retrieval alone, in one run over the same questions.

    python -m benchmarks.asking             text made from the standard library's own source
    python -m benchmarks.asking FOLDER      a folder of documents; the questions are made from their words

A whole ask plans, searches, fetches and hashes documents, archives them, ranks and reads passages, concludes, grounds
every claim and journals each step; retrieval alone is the search of the index.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio

from benchmarks.index import Spent, questions, standard_library, texts
from marchwarden.core.notebook import Query
from marchwarden.loop.investigator import Investigator
from marchwarden.researchers.files import FilesResearcher

ASKED = 100


@dataclass(frozen=True)
class Waits:
    """What something took, question by question. All figures are in milliseconds."""

    took: tuple[Spent, ...]

    @property
    def median(self) -> float:
        return statistics.median(each.wall for each in self.took) * 1000

    @property
    def tail(self) -> float:
        """What nineteen of twenty did not exceed."""
        return statistics.quantiles((each.wall for each in self.took), n=20, method="inclusive")[-1] * 1000

    @property
    def work(self) -> float:
        """The median of what it cost the processor: on a busy machine the only figure that can be compared."""
        return statistics.median(each.cpu for each in self.took) * 1000


@dataclass(frozen=True)
class Asking:
    """The same questions, once for the search of the index alone and once for a whole ask."""

    retrieval: Waits
    ask: Waits


async def timed(work: Callable[[], Awaitable[object]]) -> Spent:
    wall, cpu = time.perf_counter(), time.process_time()
    await work()
    return Spent(time.perf_counter() - wall, time.process_time() - cpu)


async def waited(researcher: Investigator, asked: Sequence[str]) -> Asking:
    """Put every question to a researcher, one at a time, after one that warms it up."""
    await researcher.research(asked[0])
    retrievals, asks = [], []
    for question in asked:
        retrievals.append(await timed(partial(researcher.source.search, Query(question))))
        asks.append(await timed(partial(researcher.research, question)))
    return Asking(Waits(tuple(retrievals)), Waits(tuple(asks)))


async def measure(folder: Path, scratch: Path) -> None:
    asked = [f"What does {words[:400]} mean?" for words in questions(texts(folder))[:ASKED]]
    found = await waited(FilesResearcher(folder, trace_dir=scratch / "traces", index_dir=scratch / "index"), asked)
    print(f"{len(asked)} questions     p50 ms   p95 ms  CPU ms (p50)")
    for name, waits in (("retrieval alone", found.retrieval), ("one whole ask", found.ask)):
        print(f"{name:16} {waits.median:9.1f} {waits.tail:8.1f} {waits.work:8.1f}")
    print(f"{found.ask.median / found.retrieval.median:.1f} times retrieval alone")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    chosen = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / "text"
        made.mkdir()
        if chosen is None:
            standard_library(made)
        anyio.run(measure, chosen or made, Path(scratch) / "work")


if __name__ == "__main__":
    main()
