"""The commands of the fleet as processes: stopping a worker, listing runs, interrupting `ask`."""

import json
import re
import signal
import subprocess
import sys

import pytest

from tests.temporal.questions import write_questions
from tests.temporal.temporal_server import STOPPING
from tests.temporal.worker_process import environ, start_batch, worker_processes

pytestmark = pytest.mark.slow

pytest.importorskip("temporalio", reason="the Temporal client is not installed: pip install 'marchwarden[temporal]'")


def test_a_stopped_worker_finishes_its_open_runs(tmp_path, server, world):
    variables = environ(world, tmp_path, MARCHWARDEN_TEMPORAL_NAMESPACE=STOPPING)
    questions = write_questions(tmp_path / "questions.jsonl", 4)
    with worker_processes(server, 1, variables, tmp_path) as (worker,):
        batch = start_batch(questions, tmp_path / "results.jsonl", server, variables)
        while not any(request.site == "tavily" for request in world.requests):
            with pytest.raises(subprocess.TimeoutExpired):
                batch.wait(0.1)
        status = worker.stop(120)
        traces = [path.read_bytes() for path in (tmp_path / "home" / "traces").glob("*.jsonl")]
        batch.kill()
        batch.wait()
    assert status == 0
    assert traces
    assert all(b'"action":"result"' in trace for trace in traces)
    lines = (tmp_path / "results.jsonl").read_text().splitlines()
    assert all(json.loads(line)["result"]["trace_id"] for line in lines)


def test_listing_runs_ends_without_errors(tmp_path, server, world):
    command = [sys.executable, "-m", "marchwarden", "runs", "list", "--temporal", server.address]
    for _ in range(4):
        done = subprocess.run(command, env=environ(world, tmp_path), capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.usefixtures("default_sigint")
def test_ctrl_c_ends_ask_but_not_the_run(tmp_path, server, world):
    ask = [sys.executable, "-m", "marchwarden", "ask", "Who designed the Alder Bridge?", "--temporal", server.address]
    variables = environ(world, tmp_path, MARCHWARDEN_TEMPORAL_NAMESPACE=STOPPING)
    with subprocess.Popen(ask, env=variables, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stderr
        stderr = child.stderr.readline()
        child.send_signal(signal.SIGINT)
        stderr += child.stderr.read()
    assert child.returncode == 130, stderr
    found = re.search(r"marchwarden runs watch ([0-9a-f-]{36}) --temporal", stderr)
    assert found, stderr
    assert "Traceback" not in stderr
    list_runs = [sys.executable, "-m", "marchwarden", "runs", "list", "--temporal", server.address]
    listed = subprocess.run(list_runs, env=variables, capture_output=True, text=True, check=True).stdout
    assert any(found[1] in line and "running" in line.lower() for line in listed.splitlines())
