"""The time limit of every test: a test that hangs fails with a readable reason, and the others still run."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_docs import ROOT

pytestmark = pytest.mark.slow

CONFTEST = """
import pytest
from tests import timeouts
from tests.timeouts import *
timeouts.GRACE_SEC = 1.0

@pytest.fixture
def anyio_backend():
    return "asyncio"
"""
HANGING = {
    "async": "await anyio.sleep_forever()",
    "async_shielded": "with anyio.CancelScope(shield=True):\n        await anyio.sleep_forever()",
    "async_in_a_thread": "await anyio.to_thread.run_sync(threading.Event().wait)",
    "async_in_the_default_executor": "await asyncio.to_thread(threading.Event().wait)",
    "process": "subprocess.run(['sleep', '60'])",
    "output_of_a_process": (
        "with subprocess.Popen(['sleep', '60'], stdout=subprocess.PIPE) as child:\n        child.stdout.read()"
    ),
    "thread": "thread = threading.Thread(target=threading.Event().wait)\n    thread.start()\n    thread.join()",
    "teardown_after_a_failure": "request.addfinalizer(threading.Event().wait)\n    assert False",
}
TEST = "{keyword} test_hanging_{name}(request):\n    {body}\n"


def write_tests(folder: Path, bodies: dict[str, str]) -> None:
    (folder / "conftest.py").write_text(CONFTEST)
    functions = [
        TEST.format(keyword="async def" if name.startswith("async") else "def", name=name, body=body)
        for name, body in bodies.items()
    ]
    imports = "import asyncio, subprocess, threading\nimport anyio, anyio.to_thread\n"
    (folder / "test_it.py").write_text(f"{imports}{''.join(functions)}def test_fine():\n    pass\n")
    (folder / "pytest.ini").write_text("[pytest]\nanyio_mode = auto\ntimeout = 1\ntimeout_method = signal\n")


def run_pytest(folder: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, str(folder)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)


def test_every_kind_of_hanging_test_fails_and_the_others_pass(tmp_path):
    write_tests(tmp_path, HANGING)
    done = run_pytest(tmp_path, "-n", "2")
    assert done.returncode == 1, done.stdout
    for name in HANGING:
        assert f"test_it.py::test_hanging_{name}" in done.stdout, name
    assert " failed, 1 passed" in done.stdout, done.stdout


@pytest.mark.parametrize("name", ["async", "async_in_a_thread", "process"])
def test_the_failure_shows_the_line_that_waits(name, tmp_path):
    write_tests(tmp_path, {name: HANGING[name]})
    done = run_pytest(tmp_path)
    assert done.returncode == 1
    assert HANGING[name] in done.stdout
    assert "Failed: Timeout (>1.0s)" in done.stdout


def test_a_test_that_ignores_the_interruption_ends_with_all_stacks(tmp_path):
    write_tests(tmp_path, {"output_of_a_process": HANGING["output_of_a_process"]})
    done = run_pytest(tmp_path)
    assert done.returncode == 1
    assert "in test_hanging_output_of_a_process" in done.stderr


def test_every_test_has_a_time_limit(pytestconfig):
    assert float(pytestconfig.getini("timeout")) > 0
    assert pytestconfig.getini("timeout_method") == "signal"
