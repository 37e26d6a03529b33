"""Compare runs that use a model with their unavoidable waits, in the loopback world with one second per model call.

    python -m benchmarks.model_latency

The critical path is the sum of the waits that must follow each other, taken from the request log of the world:

- model: the sequential model calls of a run, at the configured latency of the model server;
- polite: between two model calls, the delays of the host with the most pages, `host_delay` apart.

Searching, fetching, starting subprocesses, reading, ranking, grounding and writing the trace come on top. Three
questions are asked three times each, always by a new researcher with an empty cache. The run with the median time is
shown.
"""

import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from marchwarden.fetching import FetchSettings
from marchwarden.minds.select import select_mind
from marchwarden.researchers.web import WebResearcher
from tests.world.model_options import ModelOptions
from tests.world.pages import QUESTION, SITES
from tests.world.server import Request
from tests.world.world import World

LATENCY = 1.0
REPETITIONS = 3
MODEL = "anthropic"
QUESTIONS = (QUESTION, "When was the Alder Bridge opened?", "Who was Maud Ferris and what did she build?")


@dataclass(frozen=True)
class Run:
    """Duration of a run and its unavoidable waits."""

    seconds: float
    tokens: int
    calls: int
    polite: float

    @property
    def critical_path(self) -> float:
        return self.calls * LATENCY + self.polite


def polite_waits(requests: Sequence[Request]) -> float:
    """Sum the polite delays of the busiest host between each two model calls."""
    hosts = {site.key for site in SITES}
    rounds = [Counter[str]()]
    for request in requests:
        if request.site == MODEL:
            rounds.append(Counter())
        elif request.site in hosts and request.path != "/robots.txt":
            rounds[-1][request.site] += 1
    return sum(max(pages.values()) - 1 for pages in rounds if pages) * FetchSettings().host_delay


async def ask_question(world: World, question: str, folder: Path) -> Run:
    before = len(world.requests)
    environ = {**world.environ(), **world.models.environ(MODEL, ModelOptions(latency=LATENCY, run=folder.name))}
    researcher = WebResearcher(environ, mind=select_mind(None, environ), trace_dir=folder)
    began = time.perf_counter()
    result = await researcher.research(question)
    seconds = time.perf_counter() - began
    requests = world.requests[before:]
    calls = sum(request.site == MODEL for request in requests)
    return Run(seconds, result.cost_metadata.tokens_used, calls, polite_waits(requests))


async def measure(world: World, folder: Path) -> None:
    # Warm up: the first question also imports the provider library.
    await ask_question(world, QUESTIONS[0], folder / "loading")
    print("question                                calls  tokens  model  polite  critical path  seconds  times")
    for at, question in enumerate(QUESTIONS):
        runs = [await ask_question(world, question, folder / f"{at}-{number}") for number in range(REPETITIONS)]
        run = sorted(runs, key=lambda each: each.seconds)[REPETITIONS // 2]
        print(
            f"{question[:38]:38} {run.calls:6} {run.tokens:7} {run.calls * LATENCY:6.2f} {run.polite:7.2f}"
            f" {run.critical_path:14.2f} {run.seconds:8.2f} {run.seconds / run.critical_path:6.2f}"
        )


def main() -> None:
    with World() as world, tempfile.TemporaryDirectory() as folder:
        anyio.run(measure, world, Path(folder))


if __name__ == "__main__":
    main()
