"""Workers as they are started: one that is told to stop."""

import json
import subprocess

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
