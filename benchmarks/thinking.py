"""A run with a model, beside the waits that cannot be avoided: three questions in the loopback world, a second a call.

    python -m benchmarks.thinking

The critical path is the sum of the waits that must follow one another: each model call of a run, one after the other,
at the latency the model server was told to have. Searching, fetching, ranking, grounding, journaling come on top.
"""

import tempfile
import time
from pathlib import Path

import anyio

from marchwarden.minds.choosing import chosen_mind
from marchwarden.researchers.web import WebResearcher
from tests.world.model_orders import Orders
from tests.world.pages import QUESTION
from tests.world.world import World

LATENCY = 1.0
QUESTIONS = (QUESTION, "When was the Alder Bridge opened?", "Who was Maud Ferris and what did she build?")


async def measure(world: World, folder: Path) -> None:
    print("question                                     calls  tokens  seconds  critical path  times")
    # The first question also loads the provider's library, which is no part of a run.
    for number, question in enumerate((QUESTIONS[0], *QUESTIONS)):
        orders = Orders(latency=LATENCY, run=f"question {number}")
        environ = {**world.environ(), **world.models.environ("anthropic", orders)}
        researcher = WebResearcher(environ, mind=chosen_mind(None, environ), trace_dir=folder / str(number))
        began = time.perf_counter()
        result = await researcher.research(question)
        took = time.perf_counter() - began
        calls = len(world.model_log.calls(orders.run))
        if number:
            path, tokens = calls * LATENCY, result.cost_metadata.tokens_used
            print(f"{question[:42]:44} {calls:5} {tokens:7} {took:8.2f} {path:14.2f} {took / path:6.2f}")


def main() -> None:
    with World() as world, tempfile.TemporaryDirectory() as folder:
        anyio.run(measure, world, Path(folder))


if __name__ == "__main__":
    main()
