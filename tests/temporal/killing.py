"""A batch through the fleet while its workers are killed (-9), one every two seconds, and the server once.

    python -m tests.temporal.killing FOLDER QUESTIONS

Every two seconds, of the workers that have said they serve, the one that has served longest is killed, be it the only
one, and started again at once. Where none serves, because all are still starting, that turn is counted as `passed`: a
worker takes a second or two of CPU to start, and on a busy machine longer. With the second worker the server is killed,
too. Prints what was disturbed and what came of it; `tests/temporal/test_killing.py` holds it to that.
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
from tests.temporal.engine import Hand, Server, running
from tests.temporal.questions import written
from tests.world.model_options import ModelOptions
from tests.world.pages import SITES
from tests.world.search import OWN_ADDRESSES
from tests.world.server import Request
from tests.world.world import World

WORKERS = 3
EVERY_SEC = 2.0
SERVER_DIES_AFTER = 2
"""Workers killed before the server is."""
LATENCY = 0.3
PATIENCE_SEC = 1500.0
CLOCKS_SEC = 0.05
"""A line's time is cut to milliseconds, and taken on another clock than a request's."""
PAGES = frozenset(site.key for site in SITES)


@dataclass
class Stage:
    """One world, one server, one shared folder, three workers and a batch."""

    folder: Path
    world: World
    server: Server
    questions: int
    killed: int = 0
    passed: int = 0
    servers_killed: int = 0
    seconds: float = 0.0
    before: int = 0
    hands: list[Hand] = field(default_factory=list)

    @property
    def at_once(self) -> int:
        """Few questions one after the other, so that a quick machine is not done before anybody was killed."""
        return min(max(self.questions // 10, 1), 4)

    def environ(self, home: str, run: str) -> Mapping[str, str]:
        return {
            **bare_environment(),
            **self.world.environ(trouble=OWN_ADDRESSES),
            **self.world.models.environ("anthropic", ModelOptions(latency=LATENCY, run=run)),
            "MARCHWARDEN_HOME": str(self.folder / home),
        }

    def batch(self, name: str, *more: str) -> "subprocess.Popen[bytes]":
        asked = written(self.folder / "questions.jsonl", self.questions)
        command = ["batch", str(asked), "--researcher", "web", "-o", str(self.results(name)), *more]
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
        """Kill the worker that was started first of those that serve, and start it again."""
        hand = next((each for each in self.hands if each.serves), None)
        if hand is None:
            self.passed += 1
            return
        hand.kill()
        self.killed += 1
        if self.killed == SERVER_DIES_AFTER:
            self.server.kill()
            self.server.start()
            self.servers_killed += 1
        hand.start()
        self.hands.remove(hand)
        self.hands.append(hand)

    def run(self) -> None:
        environ = self.environ("disturbed", "disturbed")
        self.hands = [
            Hand(self.server, environ, ("--researcher", "web", "--concurrency", "20"), self.folder / f"hand{at}.log")
            for at in range(WORKERS)
        ]
        for hand in self.hands:
            hand.start()
        batch = self.batch("disturbed", "--temporal", self.server.address, "--concurrency", str(self.at_once))
        began = time.monotonic()
        try:
            while batch.poll() is None and self.seconds < PATIENCE_SEC:
                try:
                    batch.wait(EVERY_SEC)
                except subprocess.TimeoutExpired:
                    self.disturb()
                self.seconds = time.monotonic() - began
        finally:
            batch.kill()
            for hand in self.hands:
                hand.end()


@dataclass(frozen=True)
class Report:
    """What came of it all."""

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
    folder, many = Path(sys.argv[1]), int(sys.argv[2])
    with World() as world, running(folder / "engine") as server:
        stage = Stage(folder, world, server, many)
        assert stage.batch("calm", "--concurrency", "20").wait(PATIENCE_SEC) == 0
        stage.before = len(world.requests)
        stage.run()
        done = {"killed": stage.killed, "passed": stage.passed, "servers_killed": stage.servers_killed}
        print(json.dumps({**done, "seconds": round(stage.seconds), **vars(report(stage))}))


def report(stage: Stage) -> Report:
    calm, found = stage.answers("calm"), stage.answers("disturbed")
    searches, pages = PendingCall.of(stage, _searched, "search"), PendingCall.of(stage, _fetched, "fetch")
    calls = Counter(call.ask.prompt for call in stage.world.model_log.calls("disturbed") if call.ask)
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
        billed=stage.world.model_log.billed("disturbed"),
        booked=sum(each[0].cost_metadata.tokens_used for each in found.values()),
        undisturbed=stage.world.model_log.billed("calm"),
    )


def _differ(one: ResearchResult, other: ResearchResult) -> bool:
    return differences(one, other.model_copy(update={"trace_id": one.trace_id})) != ()


@dataclass(frozen=True)
class PendingCall:
    """When the world was asked for what, and when a trace had it for good. No two questions ask for the same."""

    times: list[tuple[str, float]]
    finished: Mapping[str, float]

    @classmethod
    def of(cls, stage: Stage, key: Callable[[World, Request], str], action: str) -> Self:
        since_boot = time.time() - time.monotonic()
        asked = stage.world.requests[stage.before :]
        times = [(key(stage.world, each), each.at + since_boot) for each in asked if key(stage.world, each)]
        store = Store(stage.folder / "disturbed" / "traces")
        lines = [each for trace_id in store.traces() for each in store.chain(trace_id).entries]
        kept = {str(each.fields["key"]): each.timestamp for each in lines if each.action == action}
        assert {key for key, _ in times} <= kept.keys(), f"what was asked for is not what a {action} is kept under"
        return cls(times, {key: datetime.fromisoformat(at).timestamp() for key, at in kept.items()})

    def repeated(self) -> int:
        """How often something was asked for that was finished."""
        return sum(at > self.finished[key] + CLOCKS_SEC for key, at in self.times)


def _searched(world: World, request: Request) -> str:
    return str(json.loads(request.body)["query"]) if request.site == "tavily" else ""


def _fetched(world: World, request: Request) -> str:
    return world.origin(request.site) + request.target if request.site in PAGES and "robots" not in request.path else ""


if __name__ == "__main__":
    main()
