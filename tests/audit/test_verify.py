import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marchwarden.audit.verify import verify
from marchwarden.errors import InvalidInput, MalformedTrace
from marchwarden.storage.store import Store
from marchwarden.storage.trace import Journal
from tests.investigating import QUESTION, an_investigator
from tests.world.memory import MemorySource, note


@pytest.fixture(scope="module")
def finished():
    """One finished run to copy and damage."""
    with TemporaryDirectory() as folder:
        result = anyio.run(an_investigator(Path(folder)).research, QUESTION)
        yield Path(folder), result


def failures(folder: Path, trace_id: str) -> list[str]:
    return [f"{check.subject}: {check.detail}" for check in verify(Store(folder), trace_id) if not check.proved]


def test_a_finished_run_verifies_with_one_check_per_citation(finished):
    folder, result = finished
    checks = verify(Store(folder), result.trace_id)
    assert all(check.proved for check in checks)
    cited = [check.subject for check in checks if check.subject.startswith("[")]
    assert cited == [f"[{number}] {each.locator}" for number, each in enumerate(result.citations, 1)]


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_one_flipped_byte_anywhere_is_detected_and_located(finished, data):
    original, result = finished
    with TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(original, Path(folder) / "traces"))
        files = sorted(path for path in copy.rglob("*") if path.is_file())
        path = data.draw(st.sampled_from(files))
        content = bytearray(path.read_bytes())
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] ^= data.draw(st.integers(1, 255))
        path.write_bytes(content)
        named = "".join(failures(copy, result.trace_id))
        if path.suffix == ".jsonl":
            line = content[:at].count(b"\n") + 1
            assert f"line {line}" in named or "last line is incomplete" in named
        else:
            assert f"sha256:{path.parent.name}{path.name}" in named


def forge_result(folder: Path, trace_id: str, change) -> None:
    """Change the result in the last line and recompute the hash chain."""
    path = folder / f"{trace_id}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    last = json.loads(lines[-1])
    change(last["result"])
    journal = Journal.reopen(path, trace_id)
    journal.append("result", last["decision"], {"key": "", "elapsed": 0, "result": last["result"]})
    journal.close()


FORGERIES = {
    "another excerpt": (
        lambda r: r["citations"][0].update(raw_excerpt="The Alder Bridge was opened in 1932."),
        "differs from the excerpt",
    ),
    "another place": (lambda r: r["citations"][0].update(locator="elsewhere.md#L3"), "did not fetch this document"),
    "another hash": (lambda r: r["citations"][0].update(text_hash="sha256:" + "0" * 64), "did not fetch this document"),
    "another body": (
        lambda r: r["citations"][0].update(content_hash="sha256:" + "0" * 64),
        "did not fetch this document",
    ),
    "no span": (lambda r: r["citations"][0].update(start=None), "no text hash or offsets"),
    "a marker too many": (lambda r: r.update(answer=r["answer"] + " [9]"), "markers without a citation"),
    "another run": (lambda r: r.update(trace_id="0" * 8), "belongs to trace"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_result_with_a_valid_hash_chain_is_detected(finished, tmp_path, name):
    original, result = finished
    copy = Path(shutil.copytree(original, tmp_path / "traces"))
    change, expected = FORGERIES[name]
    forge_result(copy, result.trace_id, change)
    assert any(expected in failure for failure in failures(copy, result.trace_id))


def test_an_unfinished_run_does_not_verify(finished, tmp_path):
    original, result = finished
    copy = Path(shutil.copytree(original, tmp_path / "traces"))
    path = copy / f"{result.trace_id}.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    assert any("incomplete" in failure for failure in failures(copy, result.trace_id))


def test_a_malformed_file_and_an_invalid_id_are_rejected(tmp_path):
    trace_id = "4b6b2a52-6f3c-4f0e-9d0a-0d8a3f0f7a11"
    (tmp_path / f"{trace_id}.jsonl").write_text("nonsense\n{}\n")
    with pytest.raises(MalformedTrace):
        verify(Store(tmp_path), trace_id)
    for strange in ("../../etc/passwd", "t1\n", trace_id + "\n", "", trace_id.upper(), "0" * 36):
        with pytest.raises(InvalidInput):
            verify(Store(tmp_path), strange)


async def test_a_file_name_with_a_number_sign_verifies(tmp_path):
    odd = note("notes #3.md", "# The bridge\n\nThe Alder Bridge was opened in 1931 by the engineer Maud Ferris.\n")
    result = await an_investigator(tmp_path, source=MemorySource([odd])).research(QUESTION)
    assert result.citations
    assert all(check.proved for check in verify(Store(tmp_path), result.trace_id))
