"""Killed runs and full disks: acknowledged data is never lost, and there is always a result."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from marchwarden.audit.replay import differences
from marchwarden.errors import InvalidInput, MalformedTrace, ReplayDiverged
from marchwarden.protocols import WARNING, Progress, StatusCallback
from marchwarden.storage.store import Store
from tests.investigating import QUESTION, an_investigator, change_numbering
from tests.world.memory import MemorySource

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


async def test_a_run_cut_at_any_line_resumes_to_the_same_result(tmp_path):
    undisturbed = await an_investigator(tmp_path / "whole").research(QUESTION)
    lines = Store(tmp_path / "whole").path(undisturbed.trace_id).read_bytes().splitlines(keepends=True)
    for kept in range(1, len(lines) + 1):
        store = Store(tmp_path / f"cut{kept}")
        store.folder.mkdir()
        store.archive.folder.symlink_to(tmp_path / "whole" / "archive")
        torn = lines[kept][:40] if kept < len(lines) else b""
        store.path(undisturbed.trace_id).write_bytes(b"".join(lines[:kept]) + torn)
        source = MemorySource()
        result = await an_investigator(store.folder, source=source).resume(undisturbed.trace_id)
        assert differences(undisturbed, result) == ()
        journaled = sum(b'"action":"fetch"' in line or b'"action":"search"' in line for line in lines[:kept])
        in_all = sum(b'"action":"fetch"' in line or b'"action":"search"' in line for line in lines)
        assert len(source.calls) == in_all - journaled


async def test_a_run_with_another_splitter_version_is_not_resumed(tmp_path):
    result = await an_investigator(tmp_path).research(QUESTION)
    change_numbering(Store(tmp_path), result.trace_id, keep=-1)
    with pytest.raises(ReplayDiverged, match="into sentences differently"):
        await an_investigator(tmp_path).resume(result.trace_id)


async def test_a_trace_without_a_header_is_rejected(tmp_path):
    trace_id = "4b6b2a52-6f3c-4f0e-9d0a-0d8a3f0f7a11"
    (tmp_path / f"{trace_id}.jsonl").write_bytes(b"")
    with pytest.raises(MalformedTrace):
        await an_investigator(tmp_path).resume(trace_id)


def test_a_repeatedly_killed_run_resumes_to_the_same_result(tmp_path):
    """Runs in a subprocess because it forks; tests/killing.py can also repeat it a hundred times."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.killing", str(tmp_path), "25"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    met, counted = done.stdout.splitlines()
    assert counted == "25 killed, 25 resumed, 0 lost, 0 different"
    assert int(met.split()[0]) >= 8, "a good part of the kills should meet a run that is not over"


def test_a_full_disk_still_returns_the_answer_with_an_incomplete_trace(tmp_path):
    """Uses the kernel's file size limit: writes are short, then fail, as on a full disk."""
    for limit in (0, 300, 1500, 2500, 4000):
        folder = tmp_path / str(limit)
        done = subprocess.run(
            [sys.executable, "-m", "tests.filling", str(folder), str(limit)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        answer, complete = done.stdout.strip().rsplit(" ", 1)
        assert "1931" in answer
        assert complete == "False"
        for trace_id in Store(folder).traces():
            chain = Store(folder).chain(trace_id)
            assert not (chain.damage or chain.torn)
            assert "result" not in {entry.action for entry in chain.entries}
            if chain.entries[:1] and chain.entries[0].action == "start":
                resumed = anyio.run(an_investigator(folder).resume, trace_id)
                assert resumed.trace_complete
                assert "1931" in resumed.answer


class EmptySource(MemorySource):
    """A source that has nothing to search."""

    async def ready(self, report: StatusCallback) -> None:
        raise InvalidInput("nothing readable")


async def test_a_run_without_anything_to_search_leaves_no_trace(tmp_path):
    steps: list[str] = []

    async def note_step(progress: Progress) -> None:
        steps.append(progress.step)

    with pytest.raises(InvalidInput, match="nothing readable"):
        await an_investigator(tmp_path, source=EmptySource()).research(QUESTION, progress=note_step)
    assert Store(tmp_path).traces() == []
    assert steps == []


async def test_a_run_whose_source_is_empty_now_is_finished_with_its_recorded_steps(tmp_path):
    result = await an_investigator(tmp_path).research(QUESTION)
    trace = Store(tmp_path).path(result.trace_id)
    lines = trace.read_bytes().splitlines(keepends=True)
    trace.write_bytes(b"".join(lines[:-4]))
    resumed = await an_investigator(tmp_path, source=EmptySource()).resume(result.trace_id)
    assert resumed.answer == result.answer
    assert not differences(result, resumed)


class WarningSource(MemorySource):
    def warnings(self) -> Sequence[str]:
        return ["the index cannot be saved"]


async def test_warnings_of_a_source_are_reported_once_and_change_nothing(tmp_path):
    reported: list[Progress] = []

    async def note_warning(progress: Progress) -> None:
        if progress.step == WARNING:
            reported.append(progress)

    undisturbed = await an_investigator(tmp_path).research(QUESTION)
    result = await an_investigator(tmp_path, source=WarningSource()).research(QUESTION, progress=note_warning)
    assert [each.message for each in reported] == ["the index cannot be saved"]
    assert differences(undisturbed, result) == ("trace_id",)
