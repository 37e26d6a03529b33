"""The child process: the caller always gets an outcome or a reason in time, and no child is left running."""

import os
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest

from marchwarden.contract import GapCategory
from marchwarden.researchers.database.jobs import Engine, JobKind, QueryLimits, Reason, Target
from marchwarden.researchers.database.runner import JobRunner, QueryFailed
from tests.researchers.database.hostile import SQLITE_UNINTERRUPTIBLE

pytestmark = pytest.mark.slow

TARGET = Target(Engine.SQLITE, "nowhere", "hush")


def runner_with_child(code: str, seconds: float = 0.3) -> JobRunner:
    """Return a runner whose child runs this code instead of the worker."""
    return JobRunner(
        TARGET, QueryLimits(seconds=seconds), command=(sys.executable, "-c", code), starting_seconds=seconds
    )


async def test_rows_are_returned_unchanged_up_to_the_limit(shop: Path):
    runner = JobRunner(Target(Engine.SQLITE, str(shop)), QueryLimits(rows=2))
    outcome = await runner.run(JobKind.RUN, "SELECT name, spent FROM customer ORDER BY id -- two of them")
    assert outcome.sql == "SELECT name, spent FROM customer ORDER BY id"
    assert outcome.rows
    assert outcome.rows.rows == (("Ana Lima", 120.5), ("Bruno Reis", 80))
    assert outcome.rows.cut


async def test_statement_that_ignores_interrupts_is_killed(shop: Path):
    runner = JobRunner(Target(Engine.SQLITE, str(shop)), QueryLimits(seconds=0.2))
    started = time.monotonic()
    with pytest.raises(QueryFailed, match=r"longer than 0\.2 seconds") as caught:
        await runner.run(JobKind.RUN, SQLITE_UNINTERRUPTIBLE)
    assert caught.value.reason is Reason.TOO_MUCH
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("code", "expected_text"),
    [
        ("import time; time.sleep(60)", "longer than"),
        ("import signal; signal.raise_signal(signal.SIGALRM)", "longer than"),
        ("import sys; sys.exit(1)", "without a result"),
        ("import os; os.abort()", "without a result"),
        ("print('{}{}')", "without a result"),
        ("print('{}')", "without a result"),
        ("print('{\"rows\": [1, 2]}')", "without a result"),
        ("print('x' * 50_000_000)", "without a result"),
    ],
    ids=["hangs", "alarm", "fails", "crashes", "invalid JSON", "empty", "wrong type", "too much output"],
)
async def test_misbehaving_child_raises_query_failed(code: str, expected_text: str):
    with pytest.raises(QueryFailed, match=expected_text) as caught:
        await runner_with_child(code, 0.3 if "sleep" in code else 20).run(JobKind.RUN, "SELECT 1")
    assert caught.value.category is GapCategory.ACCESS_DENIED
    assert "hush" not in str(caught.value)


async def test_cancelled_job_leaves_no_child_process(tmp_path: Path):
    note = tmp_path / "pid"
    os.mkfifo(note)
    code = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    pid = 0

    async with anyio.create_task_group() as group:
        group.start_soon(runner_with_child(code, 30).run, JobKind.RUN, "SELECT 1")
        pid = int(await anyio.to_thread.run_sync(note.read_text))
        group.cancel_scope.cancel()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize(
    ("attempt", "error"),
    [("open({path!r}, 'wb', 0).write(b'loot')", "OSError"), ("bytearray(1 << 30)", "MemoryError")],
)
def test_child_cannot_write_files_or_exceed_its_memory(attempt: str, error: str, tmp_path: Path):
    confined = (
        "from marchwarden.researchers.database.worker import _confine\n"
        "from marchwarden.researchers.database.jobs import QueryLimits\n"
        "_confine(QueryLimits(memory=600_000_000), 20)\n"
    )
    code = confined + attempt.format(path=str(tmp_path / "loot"))
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    assert error in ended.stderr
    assert not (tmp_path / "loot").exists() or not (tmp_path / "loot").read_bytes()
