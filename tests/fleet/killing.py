"""A batch through the fleet while its workers are killed, one every two seconds, and the server once.

    python -m tests.fleet.killing FOLDER QUESTIONS

Prints what was disturbed and what came of it; `tests/fleet/test_killing.py` holds it to that.
"""

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from marchwarden.contract import ResearchResult
from marchwarden.replay import differences
from marchwarden.store import Store
from tests.cli.conftest import bare_environment
from tests.fleet.engine import Hand, Server, running
from tests.fleet.questions import written
from tests.world.model_orders import Orders
from tests.world.pages import SITES
from tests.world.world import World

WORKERS = 3
FEWEST = 2
EVERY_SEC = 2.0
SERVER_DIES_AFTER = 5
"""Workers killed before the server is."""
LATENCY = 0.3
PATIENCE_SEC = 1500.0
PAGES = frozenset(site.key for site in SITES)


@dataclass
class Stage:
    """One world, one server, one shared folder, three workers and a batch."""

    folder: Path
    world: World
    server: Server
    questions: int
    killed: int = 0
    servers_killed: int = 0
    before: int = 0
    hands: list[Hand] = field(default_factory=list)

    def environ(self, home: str, run: str) -> Mapping[str, str]:
        return {
            **bare_environment(),
            **self.world.environ(),
            **self.world.models.environ("anthropic", Orders(latency=LATENCY, run=run)),
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
        """Kill a worker and start it again, as long as another serves: where starting takes long, some must be left."""
        serving = [each for each in self.hands if each.serves]
        if len(serving) < FEWEST:
            return
        hand = serving[0]
        self.hands.remove(hand)
        hand.kill()
        self.killed += 1
        if self.killed == SERVER_DIES_AFTER:
            self.server.kill()
            self.server.start()
            self.servers_killed += 1
        hand.start()
        self.hands.append(hand)

    def run(self) -> None:
        environ = self.environ("disturbed", "disturbed")
        self.hands = [
            Hand(self.server, environ, ("--researcher", "web", "--concurrency", "20"), self.folder / f"hand{at}.log")
            for at in range(WORKERS)
        ]
        for hand in self.hands:
            hand.start()
        batch = self.batch("disturbed", "--temporal", self.server.address)
        deadline = time.monotonic() + PATIENCE_SEC
        try:
            while batch.poll() is None and time.monotonic() < deadline:
                try:
                    batch.wait(EVERY_SEC)
                except subprocess.TimeoutExpired:
                    self.disturb()
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
    searches_repeated: int
    calls_repeated: int
    billed: int
    booked: int
    undisturbed: int
    pages: int
    fetches: int


def main() -> None:
    folder, many = Path(sys.argv[1]), int(sys.argv[2])
    with World() as world, running(folder / "engine") as server:
        stage = Stage(folder, world, server, many)
        assert stage.batch("calm", "--concurrency", "20").wait(PATIENCE_SEC) == 0
        stage.before = len(world.requests)
        stage.run()
        print(json.dumps({"killed": stage.killed, "servers_killed": stage.servers_killed, **vars(report(stage))}))


def report(stage: Stage) -> Report:
    calm, found = stage.answers("calm"), stage.answers("disturbed")
    store = Store(stage.folder / "disturbed" / "traces")
    calls = Counter(call.ask.prompt for call in stage.world.model_log.calls("disturbed") if call.ask)
    return Report(
        answered=len(found),
        twice=sum(len(each) > 1 for each in found.values()),
        different=sum(
            differences(calm[at][0], each[0].model_copy(update={"trace_id": calm[at][0].trace_id})) != ()
            for at, each in found.items()
        ),
        searches_repeated=_searched_again(stage, store),
        calls_repeated=sum(count - 1 for count in calls.values()),
        billed=stage.world.model_log.billed("disturbed"),
        booked=sum(each[0].cost_metadata.tokens_used for each in found.values()),
        undisturbed=stage.world.model_log.billed("calm"),
        pages=sum(
            request.site in PAGES for request in stage.world.requests[stage.before :] if "robots" not in request.path
        ),
        fetches=sum(entry.action == "fetch" for each in store.traces() for entry in store.chain(each).entries),
    )


def _searched_again(stage: Stage, store: Store) -> int:
    """Searches that reached the world after the line that finished them was in a trace."""
    finished: dict[str, float] = {}
    for trace_id in store.traces():
        for entry in store.chain(trace_id).entries:
            if entry.action == "search":
                finished[str(entry.fields["key"])] = datetime.fromisoformat(entry.timestamp).timestamp()
    offset = time.time() - time.monotonic()
    again = 0
    for request in stage.world.requests[stage.before :]:
        if request.site == "tavily":
            query = json.loads(request.body)["query"]
            again += request.at + offset > finished.get(query, float("inf")) + 0.05
    return again


if __name__ == "__main__":
    main()
