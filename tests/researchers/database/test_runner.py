"""The third wall: whatever happens in the child, the caller gets an answer or a reason in time, and no child stays."""

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
from tests.researchers.database.hostile import SQLITE_DEAF

TARGET = Target(Engine.SQLITE, "nowhere", "hush")


def a_child(code: str, seconds: float = 0.3) -> JobRunner:
    """A runner whose child does something else."""
    return JobRunner(
        TARGET, QueryLimits(seconds=seconds), command=(sys.executable, "-c", code), starting_seconds=seconds
    )


async def test_rows_come_back_as_they_are(shop: Path):
    runner = JobRunner(Target(Engine.SQLITE, str(shop)), QueryLimits(rows=2))
    outcome = await runner.run(JobKind.RUN, "SELECT name, spent FROM customer ORDER BY id -- two of them")
    assert outcome.sql == "SELECT name, spent FROM customer ORDER BY id"
    assert outcome.rows
    assert outcome.rows.rows == (("Ana Lima", 120.5), ("Bruno Reis", 80))
    assert outcome.rows.cut


async def test_a_statement_that_hears_nothing_is_ended_from_outside(shop: Path):
    runner = JobRunner(Target(Engine.SQLITE, str(shop)), QueryLimits(seconds=0.2))
    began = time.monotonic()
    with pytest.raises(QueryFailed, match=r"longer than 0\.2 seconds") as caught:
        await runner.run(JobKind.RUN, SQLITE_DEAF)
    assert caught.value.reason is Reason.TOO_MUCH
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import time; time.sleep(60)", "longer than"),
        ("import signal; signal.raise_signal(signal.SIGALRM)", "longer than"),
        ("import sys; sys.exit(1)", "without an answer"),
        ("import os; os.abort()", "without an answer"),
        ("print('{}{}')", "without an answer"),
        ("print('{}')", "without an answer"),
        ("print('{\"rows\": [1, 2]}')", "without an answer"),
        ("print('x' * 50_000_000)", "without an answer"),
    ],
    ids=["hangs", "its alarm", "fails", "crashes", "babbles", "says nothing", "lies", "floods"],
)
async def test_a_child_that_misbehaves_is_a_gap(code: str, said: str):
    with pytest.raises(QueryFailed, match=said) as caught:
        await a_child(code, 0.3 if "sleep" in code else 20).run(JobKind.RUN, "SELECT 1")
    assert caught.value.category is GapCategory.ACCESS_DENIED
    assert "hush" not in str(caught.value)


async def test_whoever_gives_up_leaves_no_child_behind(tmp_path: Path):
    note = tmp_path / "pid"
    os.mkfifo(note)
    code = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    pid = 0

    async with anyio.create_task_group() as group:
        group.start_soon(a_child(code, 30).run, JobKind.RUN, "SELECT 1")
        pid = int(await anyio.to_thread.run_sync(note.read_text))
        group.cancel_scope.cancel()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize(
    ("attempt", "error"),
    [("open({path!r}, 'wb', 0).write(b'loot')", "OSError"), ("bytearray(1 << 30)", "MemoryError")],
)
def test_the_child_can_write_no_file_and_take_no_more_memory(attempt: str, error: str, tmp_path: Path):
    confined = (
        "from marchwarden.researchers.database.worker import _confine\n"
        "from marchwarden.researchers.database.jobs import QueryLimits\n"
        "_confine(QueryLimits(memory=600_000_000), 20)\n"
    )
    code = confined + attempt.format(path=str(tmp_path / "loot"))
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    assert error in ended.stderr
    assert not (tmp_path / "loot").exists() or not (tmp_path / "loot").read_bytes()
