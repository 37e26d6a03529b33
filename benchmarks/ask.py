"""Compare one warm `ask` over an existing index with its index search alone, over the same questions.

    python -m benchmarks.ask             text from the source of the standard library
    python -m benchmarks.ask FOLDER      your documents; the questions are made from their words

A whole ask plans, searches, fetches and hashes documents, archives them, ranks and reads passages, concludes, grounds
every claim and writes every step to the trace. Retrieval is the index search alone.
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

from benchmarks.index import Duration, copy_standard_library, load_documents, random_queries
from marchwarden.core.notebook import Query
from marchwarden.loop.investigator import Investigator
from marchwarden.researchers.files import FilesResearcher

QUESTIONS = 100


@dataclass(frozen=True)
class Timings:
    """Durations per question. All figures are in milliseconds."""

    durations: tuple[Duration, ...]

    @property
    def median(self) -> float:
        return statistics.median(each.wall for each in self.durations) * 1000

    @property
    def p95(self) -> float:
        return statistics.quantiles((each.wall for each in self.durations), n=20, method="inclusive")[-1] * 1000

    @property
    def median_cpu(self) -> float:
        """Median CPU time: the only figure that can be compared on a busy machine."""
        return statistics.median(each.cpu for each in self.durations) * 1000


@dataclass(frozen=True)
class AskTimings:
    """Timings of the same questions for the index search alone and for a whole ask."""

    retrieval: Timings
    ask: Timings


async def measure_duration(work: Callable[[], Awaitable[object]]) -> Duration:
    wall, cpu = time.perf_counter(), time.process_time()
    await work()
    return Duration(time.perf_counter() - wall, time.process_time() - cpu)


async def time_questions(researcher: Investigator, questions: Sequence[str]) -> AskTimings:
    """Ask the questions one at a time, after one question to warm up."""
    await researcher.research(questions[0])
    retrievals, asks = [], []
    for question in questions:
        retrievals.append(await measure_duration(partial(researcher.source.search, Query(question))))
        asks.append(await measure_duration(partial(researcher.research, question)))
    return AskTimings(Timings(tuple(retrievals)), Timings(tuple(asks)))


async def measure(folder: Path, scratch: Path) -> None:
    chosen = [f"What does {words[:400]} mean?" for words in random_queries(load_documents(folder))[:QUESTIONS]]
    found = await time_questions(
        FilesResearcher(folder, trace_dir=scratch / "traces", index_dir=scratch / "index"), chosen
    )
    print(f"{len(chosen)} questions     p50 ms   p95 ms  CPU ms (p50)")
    for name, timings in (("retrieval", found.retrieval), ("whole ask", found.ask)):
        print(f"{name:16} {timings.median:9.1f} {timings.p95:8.1f} {timings.median_cpu:8.1f}")
    print(f"{found.ask.median / found.retrieval.median:.1f} times retrieval")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    chosen = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / "text"
        made.mkdir()
        if chosen is None:
            copy_standard_library(made)
        anyio.run(measure, chosen or made, Path(scratch) / "work")


if __name__ == "__main__":
    main()
