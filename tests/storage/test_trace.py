import json
import os
import resource
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from marchwarden.errors import MalformedTrace, StorageError, TraceHeld
from marchwarden.storage.trace import Journal, read_chain
from tests.mounts import read_only

ID = "4b6b2a52-6f3c-4f0e-9d0a-0d8a3f0f7a11"


def a_trace(path: Path, lines: int = 5) -> Path:
    journal = Journal.begin(path, ID)
    for number in range(lines):
        journal.append("note", f"because {number}", {"value": number, "text": "naïve\n“quote” \ud800"})
    journal.close()
    return path


def test_lines_are_numbered_timestamped_and_chained_json(tmp_path):
    path = a_trace(tmp_path / "t.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["step"] for line in lines] == [1, 2, 3, 4, 5]
    assert all(line["timestamp"].endswith("Z") and line["decision"] for line in lines)
    chain = read_chain(path, ID)
    assert (len(chain.entries), chain.damage, chain.torn) == (5, "", False)
    assert chain.entries[2].fields["value"] == 2


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
def test_any_changed_byte_is_detected(tmp_path, data):
    path = a_trace(tmp_path / f"{uuid4()}.jsonl", 3)
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    chain = read_chain(path, ID)
    line = content[:at].count(b"\n") + 1
    assert chain.torn or chain.damage.startswith(f"line {line}:")


def test_missing_or_foreign_line_is_detected(tmp_path):
    path = a_trace(tmp_path / "t.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2] + lines[3:]))
    assert read_chain(path, ID).damage.startswith("line 3:")
    path.write_bytes(b"".join(lines))
    assert read_chain(path, str(uuid4())).damage.startswith("line 1:")


@given(st.integers(1, 400))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_torn_last_line_is_removed_on_reopen(tmp_path, torn):
    path = a_trace(tmp_path / f"{uuid4()}.jsonl", 4)
    content = path.read_bytes()
    whole = content[: -min(torn, len(content.splitlines(keepends=True)[-1]) - 1)]
    path.write_bytes(whole)
    assert read_chain(path, ID).torn
    journal = Journal.reopen(path, ID)
    assert len(journal.entries) == 3
    journal.append("note", "going on", {})
    journal.close()
    chain = read_chain(path, ID)
    assert (len(chain.entries), chain.damage, chain.torn) == (4, "", False)


def test_damaged_trace_cannot_be_reopened(tmp_path):
    path = a_trace(tmp_path / "t.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"value":1', b'"value":7'))
    with pytest.raises(MalformedTrace, match="line 2"):
        Journal.reopen(path, ID)


def test_second_writer_of_a_trace_is_rejected(tmp_path):
    journal = Journal.begin(tmp_path / "t.jsonl", ID)
    journal.append("note", "mine", {})
    with pytest.raises(TraceHeld, match="another process"):
        Journal.reopen(tmp_path / "t.jsonl", ID)
    journal.close()


def test_unwritable_folder_gives_a_journal_with_a_reason(tmp_path):
    (tmp_path / "file").write_text("in the way")
    journal = Journal.begin(tmp_path / "file" / "t.jsonl", ID)
    assert journal.refused
    with pytest.raises(StorageError):
        journal.append("note", "why", {})
    journal.close()


def test_file_in_place_of_the_folder_is_named_as_the_reason(tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert Journal.begin(tmp_path / "file" / "t.jsonl", ID).refused == f"{tmp_path}/file: Not a directory"


@pytest.mark.parametrize("resume", [Journal.reopen, Journal.open_or_begin])
def test_trace_on_a_read_only_file_system_is_read_and_refuses_lines(tmp_path, resume):
    a_trace(tmp_path / "traces" / "t.jsonl", lines=3)
    with read_only(tmp_path / "traces"):
        journal = resume(tmp_path / "traces" / "t.jsonl", ID)
        assert len(journal.entries) == 3
        with pytest.raises(StorageError, match="Read-only file system"):
            journal.append("note", "why", {})
        journal.close()
    assert len(read_chain(tmp_path / "traces" / "t.jsonl", ID).entries) == 3


WRITER = """
    import sys
    from pathlib import Path
    from marchwarden.storage.trace import Journal
    journal = Journal.begin(Path(sys.argv[1]), sys.argv[2])
    while True:
        entry = journal.append("note", "why", {"text": "x" * 500})
        print(entry.step, flush=True)
"""


def test_sigkill_loses_no_acknowledged_line(tmp_path):
    for _ in range(5):
        trace_id = str(uuid4())
        path = tmp_path / f"{trace_id}.jsonl"
        command = [sys.executable, "-c", textwrap.dedent(WRITER), str(path), trace_id]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout
            acknowledged = [int(child.stdout.readline()) for _ in range(200)][-1]
            os.kill(child.pid, signal.SIGKILL)
            acknowledged = max([acknowledged, *(int(line) for line in child.stdout.read().split() if line)])
        chain = read_chain(path, trace_id)
        assert not chain.damage
        assert len(chain.entries) >= acknowledged


def test_partially_written_line_is_removed_and_ends_the_trace(tmp_path):
    path = tmp_path / "t.jsonl"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    journal = Journal.begin(path, ID)
    journal.append("note", "fits", {"text": "x" * 500})
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 900, before[1]))
    try:
        with pytest.raises(StorageError, match="File too large"):
            journal.append("note", "too long", {"text": "x" * 5000})
        with pytest.raises(StorageError):
            journal.append("note", "short, but later", {})
        journal.mark_incomplete()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    journal.close()
    chain = read_chain(path, ID)
    assert [entry.action for entry in chain.entries] == ["note", "incomplete"]
    assert not (chain.damage or chain.torn)
