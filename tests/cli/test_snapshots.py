"""The output of the main commands at 80 columns, compared with the files in `snapshots`.

`MARCHWARDEN_SNAPSHOTS=write pytest tests/cli/test_snapshots.py` writes them. Review the diff before you commit it.
"""

import os
import re
import sys
from pathlib import Path

import pytest

from marchwarden.storage.store import Store
from tests.cli.in_process import Shell
from tests.world.folder import a_folder

SNAPSHOTS = Path(__file__).parent / "snapshots"
QUESTION = "When was the Alder Bridge opened?"
MASKS = (
    (re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "00000000-0000-4000-8000-000000000000"),
    (re.compile(r"sha256:[0-9a-f]{64}"), f"sha256:{'0' * 64}"),
    (re.compile(r"sha256:[0-9a-f]{12}\b"), f"sha256:{'0' * 12}"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d"), "2026-01-01 00:00"),
    (re.compile(r"\d{4}-\d\d-\d\d"), "2026-01-01"),
    (re.compile(r"\b\d+\.\d+ s\b"), "0.0 s"),
    (re.compile(r" +0\.0 s  "), "    0.000 s  "),
    (re.compile(r"score \d\.\d\d"), "score 0.00"),
)
TRANSCRIPTS: dict[str, list[list[str]]] = {
    "start": [[]],
    "help": [["--help"], ["ask", "--help"]],
    "ask": [["ask", QUESTION, "--files", "library", "--local"]],
    "unanswered": [["ask", "Who won the 1998 football world cup?", "--files", "library", "--local"]],
    "verbose": [["ask", QUESTION, "--files", "library", "--local", "--depth", "shallow", "--verbose"]],
    "traces": [["traces"], ["traces", "--search", "zebra"]],
    "verify": [["verify", "TRACE_ID"]],
    # With one document, because several are archived in the order in which they arrive.
    "replay": [
        ["ask", QUESTION, "--files", "library/people", "--local"],
        ["replay", "TRACE_ID"],
        ["replay", "TRACE_ID", "--rerun"],
    ],
    "report": [["report", "TRACE_ID", "-o", "report.html"]],
    "costs": [["costs"], ["costs", "--by", "model"]],
    "researchers": [["researchers"]],
    "gc": [["gc"]],
    "init": [["init"], ["init"]],
    "mcp-config": [["mcp-config", "claude-desktop", "--files", "library"]],
    "mistakes": [
        ["aks"],
        ["ask", ""],
        ["ask", "Who?", "--files", "nowhere"],
        ["ask", "Who?", "--researcher", "oracle"],
        ["ask", "Who?", "--mind", "unknown:model", "--files", "library"],
        ["ask", "Who?", "--depth", "abyssal"],
        ["verify", "4b6b2a52"],
        ["resume", "4b6b2a52-6f3c-4f0e-9d0a-0d8a3f0f7a11"],
        ["gc", "--delet"],
    ],
}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    a_folder(tmp_path / "library")
    shell = Shell(tmp_path)
    shell.run("ask", QUESTION, "--files", "library", "--local")
    return shell


def mask(text: str, shell: Shell) -> str:
    text = text.replace(str(shell.folder), "/home/you").replace(str(Path(sys.executable).parent), "/home/you/bin")
    for pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    return "\n".join(line.rstrip() for line in text.splitlines())


def transcript(shell: Shell, commands: list[list[str]]) -> str:
    """Return each command, its output, and its exit code unless it is 0."""
    parts = []
    for arguments in commands:
        (first, *_) = Store(shell.home / "traces").traces()
        done = shell.run(*(first if each == "TRACE_ID" else each for each in arguments))
        typed = " ".join(f'"{each}"' if " " in each or not each else each for each in arguments)
        status = f"exit {done.returncode}\n" if done.returncode else ""
        parts.append(f"$ {f'marchwarden {typed}'.rstrip()}\n{done.stderr}{done.stdout}{status}")
    return mask("\n".join(parts), shell) + "\n"


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_output_matches_the_snapshot(shell: Shell, name: str):
    snapshot, output = SNAPSHOTS / f"{name}.txt", transcript(shell, TRANSCRIPTS[name])
    if os.environ.get("MARCHWARDEN_SNAPSHOTS") == "write":
        snapshot.write_text(output, encoding="utf-8")
    assert output == snapshot.read_text(encoding="utf-8")


# Messages, progress lines and commands to copy are not wrapped.
WIDE = {"mistakes", "verify", "replay"}
UNWRAPPED = re.compile(r"\$ |  marchwarden |\w+: .* tokens left, |.*/home/you")


@pytest.mark.parametrize("name", sorted(TRANSCRIPTS.keys() - WIDE))
def test_output_fits_80_columns(name: str):
    lines = (SNAPSHOTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    wrapped = [line for line in lines if not UNWRAPPED.match(line)]
    assert max(map(len, wrapped)) <= 80


def test_every_snapshot_has_a_transcript():
    assert {path.stem for path in SNAPSHOTS.glob("*.txt")} == set(TRANSCRIPTS)


def test_each_error_is_one_line():
    errors = (SNAPSHOTS / "mistakes.txt").read_text(encoding="utf-8").split("\n\n")
    assert len(errors) == len(TRANSCRIPTS["mistakes"])
    for each in errors:
        _, line, status = each.strip().splitlines()
        assert line.startswith("marchwarden: ")
        assert status == "exit 2"
