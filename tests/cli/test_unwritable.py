"""An unwritable home folder does not change the answer. A trace folder that the user chose must be writable."""

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.privileges import without_privileges
from tests.mounts import read_only, small

if TYPE_CHECKING:
    from tests.cli.in_process import CommandResult

pytestmark = pytest.mark.slow

QUESTION = "When was the Alder Bridge opened?"
ASK = ("ask", QUESTION, "--files", "library", "--json")
TRACE_ID = "4b6b2a52-6f3c-4f0e-9d0a-0d8a3f0f7a11"


def a_file(path: Path) -> Iterator[Path]:
    path.write_text("in the way")
    yield path


def below_a_file(path: Path) -> Iterator[Path]:
    path.write_text("in the way")
    yield path / "home"


def in_proc(_path: Path) -> Iterator[Path]:
    yield Path("/proc/marchwarden")


def read_only_mount(path: Path) -> Iterator[Path]:
    path.mkdir()
    with read_only(path):
        yield path


def full_mount(path: Path) -> Iterator[Path]:
    with small(path, "16k"):
        yield path


HOMES = {
    "a file": (a_file, "Not a directory"),
    "below a file": (below_a_file, "Not a directory"),
    "in proc": (in_proc, "No such file or directory"),
    "read-only": (read_only_mount, "Read-only file system"),
    "full": (full_mount, "No space left on device"),
}


def answer_of(done: "CommandResult | subprocess.CompletedProcess[str]") -> dict[str, Any]:
    result: dict[str, Any] = json.loads(done.stdout)
    del result["trace_id"], result["cost_metadata"]["wall_time_sec"]
    result["cost_metadata"].pop("indexing_sec", None)
    for dispatch in result["dispatches"]:
        del dispatch["trace_id"]
    return result


def warnings_of(done: "CommandResult | subprocess.CompletedProcess[str]") -> list[str]:
    return [line for line in done.stderr.splitlines() if "warning" in line]


@pytest.mark.parametrize("name", HOMES)
@pytest.mark.parametrize("how", ["--local", "--mcp"])
def test_the_answer_is_the_same_with_any_home_folder(run, folder, tmp_path, name, how):
    expected = answer_of(run(*ASK, how))
    make, reason = HOMES[name]
    with contextmanager(make)(tmp_path / "unwritable") as home:
        done = run(*ASK, how, MARCHWARDEN_HOME=str(home))
    assert done.returncode == 0, done.stderr
    assert answer_of(done) == {**expected, "trace_complete": False}
    about_index, about_trace = sorted(warnings_of(done))
    assert f"the index in {home}/index cannot be updated" in about_index
    assert f"the trace cannot be written ({home}/traces" in about_trace
    assert reason in about_trace
    assert name == "full" or reason in about_index


def test_the_answer_of_several_researchers_is_the_same(run, folder, tmp_path):
    asked = (*ASK, "--db", "shop.sqlite", "--local")
    subprocess.run([sys.executable, "-c", A_SHOP], cwd=tmp_path, check=True)
    expected = answer_of(run(*asked))
    (tmp_path / "file").touch()
    done = run(*asked, MARCHWARDEN_HOME=str(tmp_path / "file"))
    answer = answer_of(done)
    assert answer["answer"] == expected["answer"]
    assert [each["raw_excerpt"] for each in answer["citations"]] == [
        each["raw_excerpt"] for each in expected["citations"]
    ]
    assert not answer["trace_complete"]
    assert len(warnings_of(done)) == 2


A_SHOP = """
import sqlite3
shop = sqlite3.connect("shop.sqlite")
shop.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)")
shop.commit()
"""


@pytest.mark.parametrize("limit", [0, 5_000, 30_000])
def test_the_answer_is_the_same_if_the_disk_becomes_full(process, folder, environment, tmp_path, limit):
    expected = answer_of(process(*ASK, "--local"))
    for number in range(100):
        (folder / f"note{number}.txt").write_text(
            f"The railway of number {number} was closed in {1800 + number}.\n" * 9
        )
    done = subprocess.run(
        [sys.executable, "-m", "marchwarden", *ASK, "--local"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY)),
    )
    assert done.returncode == 0, done.stderr
    assert answer_of(done)["answer"] == expected["answer"]
    assert warnings_of(done)
    assert answer_of(done)["trace_complete"] == (limit == 30_000)
    assert limit == 30_000 or "File too large" in done.stderr


def test_a_user_without_a_home_folder_has_one_at_the_root(environment, tmp_path):
    # Only lists runs: as root, a question would create the folder.
    bare = {name: value for name, value in environment.items() if name not in {"HOME", "MARCHWARDEN_HOME"}}
    code = (
        "import os, sys; os.getuid = lambda: 4_000_000_000; from marchwarden.cli.main import main; main(sys.argv[1:])"
    )
    command = [sys.executable, "-c", code, "traces"]
    done = subprocess.run(command, cwd=tmp_path, env=bare, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert "/.marchwarden/traces" in done.stdout


def test_a_batch_warns_once(run, folder, tmp_path):
    lines = [json.dumps({"id": number, "question": QUESTION}) for number in range(5)]
    (tmp_path / "questions.jsonl").write_text("\n".join(lines))
    (tmp_path / "file").touch()
    home = str(tmp_path / "file")
    done = run("batch", "questions.jsonl", "--files", "library", "-o", "results.jsonl", MARCHWARDEN_HOME=home)
    assert done.returncode == 0, done.stderr
    assert len(warnings_of(done)) == 2
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 5


def test_a_suite_is_measured_without_a_home_folder(run, tmp_path):
    expected = json.loads(run("eval", "marches", "--sample", "2", "--json").stdout)
    (tmp_path / "file").touch()
    done = run("eval", "marches", "--sample", "2", "--json", MARCHWARDEN_HOME=str(tmp_path / "file"))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["figures"]["answer_said"] == expected["figures"]["answer_said"]


def test_a_server_warns_when_it_starts(run, folder, tmp_path):
    (tmp_path / "file").touch()
    done = run("serve", "files", "--files", "library", MARCHWARDEN_HOME=str(tmp_path / "file"))
    assert "runs cannot be written" in done.stderr and "Not a directory" in done.stderr


WRITING = {
    "ask": ["ask", QUESTION, "--files", "library"],
    "batch": ["batch", "questions.jsonl", "--files", "library", "-o", "results.jsonl"],
    "eval": ["eval", "marches", "--sample", "1"],
    "ui": ["ui", "--no-open"],
    "resume": ["resume", TRACE_ID],
    "fork": ["replay", TRACE_ID, "--from", "3"],
    "worker": ["worker", "--temporal", "127.0.0.1:1"],
}


@pytest.mark.parametrize("name", WRITING)
@pytest.mark.parametrize("place", ["/proc/marchwarden", "file", "file/below"])
def test_a_trace_folder_that_cannot_be_written_is_rejected_before_any_work(run, folder, tmp_path, name, place):
    (tmp_path / "questions.jsonl").write_text(json.dumps({"id": 1, "question": QUESTION}))
    (tmp_path / "file").touch()
    done = run(*WRITING[name], "--trace-dir", place)
    reason = "No such file or directory" if place.startswith("/proc") else "Not a directory"
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert reason in line
    assert "disk" not in line
    assert not (tmp_path / "home" / "index").exists()


@pytest.mark.parametrize(
    "place, reason",
    [
        ("", "is empty"),
        (" ", "is empty"),
        ("s3://", "s3://BUCKET/PREFIX"),
        ("s3:", "s3://BUCKET/PREFIX"),
        ("https://dorn.example/traces", "s3://BUCKET/PREFIX"),
        ("file:///tmp/traces", "s3://BUCKET/PREFIX"),
        ("~nobody-of-this-name/traces", "home folder"),
        ("circle", "Too many levels of symbolic links"),
        ("dangling", "No such file or directory"),
        ("x" * 300, "File name too long"),
    ],
)
def test_a_trace_folder_that_is_none_is_rejected_and_nothing_is_created(run, folder, tmp_path, place, reason):
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "dangling").symlink_to("nowhere/at/all")
    before = {*tmp_path.iterdir()}
    done = run("ask", QUESTION, "--files", "library", "--trace-dir", place)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert reason in line
    assert {*tmp_path.iterdir()} == before


def test_a_tilde_in_the_trace_folder_is_the_home_folder(run, folder, tmp_path):
    done = run("ask", QUESTION, "--files", "library", "--trace-dir=~/traces", HOME=str(tmp_path / "user"))
    assert done.returncode == 0, done.stderr
    assert [*(tmp_path / "user" / "traces").glob("*.jsonl")]


SERVING = {
    "serve": ["serve", "files", "--files", "library"],
    "serve over HTTP": ["serve", "files", "--files", "library", "--http", "127.0.0.1:0"],
    "serve the PI": ["serve", "pi", "--files", "library"],
    "ask": WRITING["ask"],
    "arxiv": ["arxiv", "add", "2104.12255"],
}


@pytest.mark.parametrize("name", SERVING)
@pytest.mark.parametrize("where", ["environment", "dotenv"])
def test_a_configured_trace_folder_that_cannot_be_written_is_rejected(run, folder, tmp_path, name, where):
    variables = {"MARCHWARDEN_TRACE_DIR": "/proc/marchwarden"}
    if where == "dotenv":
        (tmp_path / ".env").write_text("MARCHWARDEN_TRACE_DIR=/proc/marchwarden\n")
        variables = {}
    done = run(*SERVING[name], **variables)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "runs cannot be written to /proc/marchwarden: No such file or directory" in line


@pytest.mark.parametrize(
    ("name", "reason"), [("read-only", "Read-only file system"), ("full", "No space left on device")]
)
def test_the_reason_is_that_of_the_operating_system(run, folder, tmp_path, name, reason):
    make, _ = HOMES[name]
    with contextmanager(make)(tmp_path / "unwritable") as place:
        if name == "full":
            (place / "rest").write_bytes(bytes(16 << 10))
        done = run(*ASK, "--trace-dir", str(place))
    assert done.returncode == 2
    assert reason in done.stderr


def test_a_run_on_a_read_only_file_system_is_resumed(run, folder, tmp_path):
    trace_id = json.loads(run(*ASK, "--local").stdout)["trace_id"]
    expected = answer_of(run("resume", trace_id, "--json"))
    trace = tmp_path / "home" / "traces" / f"{trace_id}.jsonl"
    lines = trace.read_bytes().splitlines(keepends=True)
    trace.write_bytes(b"".join(lines[:3]))
    with read_only(tmp_path / "home"):
        done = run("resume", trace_id, "--json")
    assert answer_of(done) == {**expected, "trace_complete": False}
    assert trace.read_bytes() == b"".join(lines[:3])


@pytest.mark.parametrize("how", ["--local", "--mcp"])
def test_the_answer_is_the_same_with_a_home_folder_that_cannot_be_entered(run, folder, tmp_path, how):
    expected = answer_of(run(*ASK, how))
    home = tmp_path / "home"
    home.chmod(0)
    try:
        done = without_privileges(*ASK, how, home=home, cwd=tmp_path)
        others = {name: without_privileges(*OTHERS[name], home=home, cwd=tmp_path) for name in OTHERS}
    finally:
        home.chmod(0o755)
    assert answer_of(done) == {**expected, "trace_complete": False}
    assert {each.stderr.count("Permission denied") for each in (done, others["traces"], others["gc"])} == {2, 1}
    assert {name: each.returncode for name, each in others.items()} == {"traces": 1, "gc": 1, "doctor": 1}
    assert "BROKEN" in others["doctor"].stdout


OTHERS = {"traces": ["traces"], "gc": ["gc"], "doctor": ["doctor", "--offline"]}
