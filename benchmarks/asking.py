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
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import anyio

from benchmarks.index import questions, standard_library, texts
from marchwarden.notebook import Query
from marchwarden.researchers.files import FilesResearcher

ASKED = 100


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    start = time.perf_counter()
    await work()
    return (time.perf_counter() - start) * 1000


async def measure(folder: Path, scratch: Path) -> None:
    asked = [f"What does {words[:400]} mean?" for words in questions(texts(folder))[:ASKED]]
    researcher = FilesResearcher(folder, trace_dir=scratch / "traces", index_dir=scratch / "index")
    await researcher.research(asked[0])
    retrievals, asks = [], []
    for question in asked:
        retrievals.append(await timed(partial(researcher.source.search, Query(question))))
        asks.append(await timed(partial(researcher.research, question)))
    print(f"{len(asked)} questions     p50 ms   p95 ms")
    for name, took in (("retrieval alone", retrievals), ("one whole ask", asks)):
        print(f"{name:16} {statistics.median(took):9.1f} {statistics.quantiles(took, n=20)[-1]:8.1f}")
    print(f"{statistics.median(asks) / statistics.median(retrievals):.1f} times retrieval alone")


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
