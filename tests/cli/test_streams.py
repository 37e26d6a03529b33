"""Standard streams that are closed, full, broken or not UTF-8, and terminals of any width."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from marchwarden.audit.verify import verify
from marchwarden.storage.store import Store
from marchwarden.storage.trace import Journal

pytestmark = pytest.mark.slow

QUESTION = "When was the Alder Bridge opened?"
ASK = ("ask", QUESTION, "--files", "library", "--local")
TRACE_ID = "4b6b2a52-6f3c-4f0e-9d0a-0d8a3f0f7a11"
Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def command(tmp_path: Path, environment: dict[str, str], folder: Path) -> Command:
    """Run a shell line in which `$M` is the command line."""
    with (folder / "bridge.md").open("a", encoding="utf-8") as page:
        page.write("\nIt was opened in 1931 by María Ferrís – “with a ribbon” – on the Ålder 😀 quay.\n")

    def run(line: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        environ = {**environment, "M": f"{sys.executable} -m marchwarden", "Q": QUESTION, **variables}
        done = subprocess.run(
            ["bash", "-c", line], cwd=tmp_path, env=environ, capture_output=True, check=False, timeout=120
        )
        return subprocess.CompletedProcess(line, done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-16"])
def test_the_answer_is_complete_in_any_encoding(command, tmp_path, encoding):
    answer = json.loads(command(f'$M {" ".join(ASK[:1])} "$Q" --files library --local --json').stdout)
    assert "😀" in json.dumps(answer, ensure_ascii=False)
    shown = command('$M ask "$Q" --files library --local > out; $M traces >> out', PYTHONIOENCODING=encoding)
    assert (shown.returncode, "Traceback" in shown.stderr) == (0, False)
    as_json = command('$M ask "$Q" --files library --local --json > out.json', PYTHONIOENCODING=encoding)
    assert as_json.returncode == 0, as_json.stderr
    text = (tmp_path / "out.json").read_bytes().decode("utf-8" if encoding == "ascii" else encoding)
    assert json.loads(text)["answer"] == answer["answer"]


@pytest.mark.parametrize(
    "line", ['ask "$Q" --files library --local', "traces", "--help", "contract result", "doctor --offline"]
)
def test_a_full_output_is_reported_in_one_line(command, line):
    done = command(f"$M {line} > /dev/full")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "marchwarden: the output cannot be written: No space left on device"


@pytest.mark.parametrize("stderr", ["2> /dev/full", "2>&-"])
def test_messages_that_cannot_be_written_do_not_hide_the_result(command, stderr):
    done = command(f'$M ask "$Q" --files library --local {stderr}')
    assert done.returncode == 0
    assert "1931" in done.stdout
    assert command(f"$M aks {stderr}").returncode == 2


def test_a_broken_pipe_is_silent(command):
    done = command("$M contract result | true; exit ${PIPESTATUS[0]}")
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "0<&- 1>&- 2>&-"])
def test_closed_streams_do_not_damage_the_run(command, tmp_path, closed):
    for how in ("--local", "--mcp"):
        assert command(f'$M ask "$Q" --files library {how} {closed}').returncode == 0
    store = Store(tmp_path / "home" / "traces")
    assert len(store.traces()) == 2
    for trace_id in store.traces():
        assert all(check.proved for check in verify(store, trace_id))
    assert command(f"$M completion bash {closed}").returncode == 0
    assert command(f"$M serve files --files library {closed} < /dev/null").returncode == 0


@pytest.fixture
def costly_run(tmp_path: Path) -> str:
    """A run of a model with a long name that is in no price table."""
    model = f"provider:{'a-model-with-a-long-name-' * 4}end"
    journal = Journal.begin(tmp_path / "home" / "traces" / f"{TRACE_ID}.jsonl", TRACE_ID)
    journal.append("start", "", {"researcher": "files", "request": {"question": "Who? " * 90 + "end"}})
    journal.append("plan", "", {"model": model, "tokens": 1_234_567})
    journal.close()
    return model


@pytest.mark.parametrize("width", ["20", "80", "200"])
def test_costs_are_never_cut(run, costly_run, width):
    lines = run("costs", "--by", "model", COLUMNS=width).stdout.splitlines()
    assert [line.split()[0] for line in lines] == [costly_run, "total"]
    for line in lines:
        assert line.endswith("1234567 tokens  $0.0000 and 1234567 tokens without a known price (see prices.toml)")


@pytest.mark.parametrize(
    "arguments", [["traces"], ["researchers"], ["verify", "TRACE_ID"], ["replay", "TRACE_ID"], ["gc"]]
)
def test_narrow_output_has_every_character_of_wide_output(run, folder, arguments):
    run(*ASK)
    (trace_id,) = json.loads(run("traces", "--json").stdout)
    given = [trace_id["trace_id"] if each == "TRACE_ID" else each for each in arguments]
    wide = "".join(run(*given, COLUMNS="500").stdout.split())
    for width in ("1", "20", "80"):
        assert "".join(run(*given, COLUMNS=width).stdout.split()) == wide


def test_a_long_question_is_listed_completely(run, costly_run):
    assert re.search(r"Who\?\s+end$", run("traces").stdout.strip())


@pytest.mark.parametrize("line", ["ask Q --files .", "traces --trace-dir runs", "mcp-config vscode --files ."])
def test_a_deleted_current_folder_is_named_as_the_reason(command, line):
    done = command(f'mkdir gone; cd gone; rmdir "$PWD"; $M {line}')
    assert done.returncode == 2
    assert done.stderr == "marchwarden: the current folder was deleted: change to another folder\n"


def test_a_key_of_any_bytes_does_not_end_the_command(command):
    done = command("TAVILY_API_KEY=$'caf\\xe9' $M traces")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("place", ["/dev/null", "pipe", "library"])
def test_results_must_go_to_a_regular_file(run, folder, tmp_path, place):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "questions.jsonl").write_text(json.dumps({"id": 1, "question": QUESTION}))
    done = run("batch", "questions.jsonl", "--files", "library", "-o", place)
    assert done.returncode == 2
    assert done.stderr == f"marchwarden: {place} is not a regular file; choose a file for the results\n"


def test_syntax_warnings_of_libraries_are_not_for_users(tmp_path, environment):
    """They appear when Python compiles a library on its first import."""
    (tmp_path / "careless.py").write_text("assert 1 is 1\n")
    start = "import sys; from marchwarden.cli import main; main.main = lambda: __import__('careless'); main.program()"
    for options, expected in (((), ""), (("-W", "always"), "SyntaxWarning")):
        command = [sys.executable, "-B", *options, "-c", start]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        assert expected in done.stderr and bool(done.stderr) == bool(expected)
