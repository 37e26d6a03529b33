"""The commands of the fleet as they are started: a worker told to stop, and one that only asks."""

import json
import re
import signal
import subprocess
import sys

import pytest

from tests.temporal.engine import STOPPING
from tests.temporal.hands import batch, environ, hands
from tests.temporal.questions import written

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


def test_ctrl_c_ends_the_watching_and_not_the_run(tmp_path, server, world):
    ask = [sys.executable, "-m", "marchwarden", "ask", "Who designed the Alder Bridge?", "--temporal", server.address]
    variables = environ(world, tmp_path, MARCHWARDEN_TEMPORAL_NAMESPACE=STOPPING)
    with subprocess.Popen(ask, env=variables, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stderr
        told = child.stderr.readline()
        child.send_signal(signal.SIGINT)
        told += child.stderr.read()
    assert child.returncode == 130, told
    found = re.search(r"marchwarden runs watch ([0-9a-f-]{36}) --temporal", told)
    assert found, told
    assert "Traceback" not in told
    list_runs = [sys.executable, "-m", "marchwarden", "runs", "list", "--temporal", server.address]
    listed = subprocess.run(list_runs, env=variables, capture_output=True, text=True, check=True).stdout
    assert any(found[1] in line and "running" in line.lower() for line in listed.splitlines())
