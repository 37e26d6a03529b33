"""Run a batch on the fleet while its workers are killed (SIGKILL), one every two seconds, and the server once.

    python -m tests.temporal.chaos FOLDER QUESTIONS

Every two seconds the worker that has been serving longest is killed and restarted immediately. If all workers are still
starting, `passed` is incremented instead: starting takes a second or two of CPU, longer on a busy machine. The server
is killed together with the second worker. Prints the disturbances and the outcome, which `test_chaos.py` checks.
"""

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Self

from marchwarden.audit.replay import differences
from marchwarden.contract import ResearchResult
from marchwarden.storage.store import Store
from tests.cli.in_process import bare_environment
from tests.temporal.questions import write_questions
from tests.temporal.temporal_server import TemporalServer, run_server
from tests.temporal.worker_process import WorkerProcess
from tests.world.model_options import ModelOptions
from tests.world.pages import SITES
from tests.world.search import OWN_ADDRESSES
from tests.world.server import Request
from tests.world.world import World

WORKERS = 3
INTERVAL_SEC = 2.0
KILL_SERVER_AFTER = 2
"""The number of killed workers at which the server is killed, too."""
LATENCY = 0.3
TIMEOUT_SEC = 1500.0
CLOCK_TOLERANCE_SEC = 0.05
"""Trace timestamps are cut to milliseconds, and requests are timed by another clock."""
PAGES = frozenset(site.key for site in SITES)


@dataclass
class ChaosTest:
    """A world, a Temporal server, a shared folder, three workers and a batch."""

    folder: Path
    world: World
    server: TemporalServer
    questions: int
    killed: int = 0
    passed: int = 0
    servers_killed: int = 0
    seconds: float = 0.0
    before: int = 0
    workers: list[WorkerProcess] = field(default_factory=list)

    @property
    def concurrency(self) -> int:
        """Low, so that a fast machine does not finish before the first kill."""
        return min(max(self.questions // 10, 1), 4)

    def environ(self, home: str, run: str) -> Mapping[str, str]:
        return {
            **bare_environment(),
            **self.world.environ(trouble=OWN_ADDRESSES),
            **self.world.models.environ("anthropic", ModelOptions(latency=LATENCY, run=run)),
            "MARCHWARDEN_HOME": str(self.folder / home),
        }

    def batch(self, name: str, *more: str) -> "subprocess.Popen[bytes]":
        questions = write_questions(self.folder / "questions.jsonl", self.questions)
        command = ["batch", str(questions), "--researcher", "web", "-o", str(self.results(name)), *more]
        with (self.folder / f"{name}.log").open("wb") as log:
            environ = self.environ(name, name)
            return subprocess.Popen([sys.executable, "-m", "marchwarden", *command], env=environ, stderr=log)

    def results(self, name: str) -> Path:
        return self.folder / f"{name}.jsonl"

    def answers(self, name: str) -> dict[int, list[ResearchResult]]:
        found: dict[int, list[ResearchResult]] = {}
        for line in self.results(name).read_text(encoding="utf-8").splitlines():
            answer = json.loads(line)
            found.setdefault(answer["id"], []).append(ResearchResult.model_validate(answer["result"]))
        return found

    def disturb(self) -> None:
        """Kill and restart the worker that has been serving longest."""
        worker = next((each for each in self.workers if each.is_serving), None)
        if worker is None:
            self.passed += 1
            return
        worker.kill()
        self.killed += 1
        if self.killed == KILL_SERVER_AFTER:
            self.server.kill()
            self.server.start()
            self.servers_killed += 1
        worker.start()
        self.workers.remove(worker)
        self.workers.append(worker)

    def run(self) -> None:
        environ = self.environ("disturbed", "disturbed")
        arguments = ("--researcher", "web", "--concurrency", "20")
        self.workers = [
            WorkerProcess(self.server, environ, arguments, self.folder / f"worker{at}.log") for at in range(WORKERS)
        ]
        for worker in self.workers:
            worker.start()
        batch = self.batch("disturbed", "--temporal", self.server.address, "--concurrency", str(self.concurrency))
        began = time.monotonic()
        try:
            while batch.poll() is None and self.seconds < TIMEOUT_SEC:
                try:
                    batch.wait(INTERVAL_SEC)
                except subprocess.TimeoutExpired:
                    self.disturb()
                self.seconds = time.monotonic() - began
        finally:
            batch.kill()
            for worker in self.workers:
                worker.kill_if_running()


@dataclass(frozen=True)
class Report:
    """What the disturbed batch produced, compared with the undisturbed one."""

    answered: int
    twice: int
    different: int
    searches: int
    searches_repeated: int
    pages: int
    pages_repeated: int
    calls: int
    calls_repeated: int
    billed: int
    booked: int
    undisturbed: int


def main() -> None:
    folder, questions = Path(sys.argv[1]), int(sys.argv[2])
    with World() as world, run_server(folder / "temporal") as server:
        test = ChaosTest(folder, world, server, questions)
        assert test.batch("calm", "--concurrency", "20").wait(TIMEOUT_SEC) == 0
        test.before = len(world.requests)
        test.run()
        done = {"killed": test.killed, "passed": test.passed, "servers_killed": test.servers_killed}
        print(json.dumps({**done, "seconds": round(test.seconds), **vars(report(test))}))


def report(test: ChaosTest) -> Report:
    calm, found = test.answers("calm"), test.answers("disturbed")
    searches = WorldRequests.collect(test, _search_key, "search")
    pages = WorldRequests.collect(test, _page_key, "fetch")
    calls = Counter(call.ask.prompt for call in test.world.model_log.calls("disturbed") if call.ask)
    return Report(
        answered=len(found),
        twice=sum(len(each) > 1 for each in found.values()),
        different=sum(_differ(calm[at][0], each[0]) for at, each in found.items()),
        searches=len(searches.times),
        searches_repeated=searches.repeated(),
        pages=len(pages.times),
        pages_repeated=pages.repeated(),
        calls=calls.total(),
        calls_repeated=calls.total() - len(calls),
        billed=test.world.model_log.billed("disturbed"),
        booked=sum(each[0].cost_metadata.tokens_used for each in found.values()),
        undisturbed=test.world.model_log.billed("calm"),
    )


def _differ(one: ResearchResult, other: ResearchResult) -> bool:
    return differences(one, other.model_copy(update={"trace_id": one.trace_id})) != ()


@dataclass(frozen=True)
class WorldRequests:
    """The times of requests to the world, and the times at which their results were in a trace.

    No two questions request the same.
    """

    times: list[tuple[str, float]]
    finished: Mapping[str, float]

    @classmethod
    def collect(cls, test: ChaosTest, key: Callable[[World, Request], str], action: str) -> Self:
        since_boot = time.time() - time.monotonic()
        requests = test.world.requests[test.before :]
        times = [(key(test.world, each), each.at + since_boot) for each in requests if key(test.world, each)]
        store = Store(test.folder / "disturbed" / "traces")
        lines = [each for trace_id in store.traces() for each in store.chain(trace_id).entries]
        recorded = {str(each.fields["key"]): each.timestamp for each in lines if each.action == action}
        assert {key for key, _ in times} <= recorded.keys(), f"a request has no {action} in any trace"
        return cls(times, {key: datetime.fromisoformat(at).timestamp() for key, at in recorded.items()})

    def repeated(self) -> int:
        """Count requests for results that a trace already had."""
        return sum(at > self.finished[key] + CLOCK_TOLERANCE_SEC for key, at in self.times)


def _search_key(world: World, request: Request) -> str:
    return str(json.loads(request.body)["query"]) if request.site == "tavily" else ""


def _page_key(world: World, request: Request) -> str:
    return world.origin(request.site) + request.target if request.site in PAGES and "robots" not in request.path else ""


if __name__ == "__main__":
    main()
