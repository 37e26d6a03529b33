"""Workers as they are started: the limit of three together by the world's own log, and one that is told to stop."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import bare_environment
from tests.fleet.engine import Hand, Server
from tests.fleet.questions import written
from tests.fleet.test_limits import most_within
from tests.world.world import World

pytest.importorskip("temporalio", reason="no client of Temporal: pip install 'marchwarden[temporal]'")


def environ(world: World, folder: Path, **more: str) -> Mapping[str, str]:
    embedded = {"MARCHWARDEN_MODEL": "extractive", "MARCHWARDEN_HOME": str(folder / "home")}
    return {**bare_environment(), **world.environ(), **embedded, **more}


@contextmanager
def hands(server: Server, many: int, environ: Mapping[str, str], folder: Path) -> Iterator[list[Hand]]:
    started = [Hand(server, environ, ("--researcher", "web"), folder / f"hand{at}.log") for at in range(many)]
    try:
        for hand in started:
            hand.start()
        yield started
    finally:
        for hand in started:
            hand.end()


def batch(questions: Path, results: Path, server: Server, environ: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    command = ["batch", str(questions), "--researcher", "web", "-o", str(results), "--temporal", server.address]
    return subprocess.Popen([sys.executable, "-m", "marchwarden", *command], env=dict(environ))


def test_five_searches_a_second_are_not_exceeded_by_three_workers(tmp_path, server, world):
    variables = environ(world, tmp_path, MARCHWARDEN_LIMITS="tavily=5/s")
    questions = written(tmp_path / "questions.jsonl", 30)
    with hands(server, 3, variables, tmp_path):
        assert batch(questions, tmp_path / "results.jsonl", server, variables).wait(400) == 0
    searched = [request.at for request in world.requests if request.site == "tavily"]
    assert len(searched) >= 30
    assert most_within(searched, 1.0) <= 5


def test_a_worker_told_to_stop_finishes_what_it_has(tmp_path, server, world):
    variables = environ(world, tmp_path)
    questions = written(tmp_path / "questions.jsonl", 4)
    with hands(server, 1, variables, tmp_path) as (hand,):
        asked = batch(questions, tmp_path / "results.jsonl", server, variables)
        while not any(request.site == "tavily" for request in world.requests):
            with pytest.raises(subprocess.TimeoutExpired):
                asked.wait(0.1)
        status = hand.stop(120)
        traces = [path.read_bytes() for path in (tmp_path / "home" / "traces").glob("*.jsonl")]
        asked.kill()
        asked.wait()
    assert status == 0
    assert traces
    assert all(b'"action":"result"' in trace for trace in traces)
    lines = (tmp_path / "results.jsonl").read_text().splitlines()
    assert all(json.loads(line)["result"]["trace_id"] for line in lines)
