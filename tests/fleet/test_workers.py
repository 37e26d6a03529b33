"""The commands of the fleet as they are started: a worker told to stop, and one that only asks."""

import json
import subprocess
import sys

import pytest

from tests.fleet.engine import STOPPING
from tests.fleet.hands import batch, environ, hands
from tests.fleet.questions import written

pytest.importorskip("temporalio", reason="no client of Temporal: pip install 'marchwarden[temporal]'")


def test_a_worker_told_to_stop_finishes_what_it_has(tmp_path, server, world):
    variables = environ(world, tmp_path, MARCHWARDEN_TEMPORAL_NAMESPACE=STOPPING)
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


def test_a_command_that_asked_the_engine_ends_in_peace(tmp_path, server, world):
    command = [sys.executable, "-m", "marchwarden", "runs", "list", "--temporal", server.address]
    for _ in range(4):
        done = subprocess.run(command, env=environ(world, tmp_path), capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
