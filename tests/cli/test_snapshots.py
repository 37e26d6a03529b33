"""The main commands as a person sees them at 80 columns, kept beside this file to be looked at.

MARCHWARDEN_SNAPSHOTS=write pytest tests/cli/test_snapshots.py  writes them anew; look at what changed before you keep
it.
"""

import os
import re
import sys
from pathlib import Path

import pytest

from marchwarden.storage.store import Store
from tests.cli.in_process import Shell
from tests.world.folder import a_folder

KEPT = Path(__file__).parent / "snapshots"
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
    # Over one document: several are kept in the order in which they happen to arrive.
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
        ["ask", "Who?", "--mind", "nobody:knows", "--files", "library"],
        ["ask", "Who?", "--depth", "abyssal"],
        ["verify", "4b6b2a52"],
        ["resume", "4b6b2a52-6f3c-4f0e-9d0a-0d8a3f0f7a11"],
        ["gc", "--delet"],
    ],
}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    a_folder(tmp_path / "library")
    made = Shell(tmp_path)
    made.run("ask", QUESTION, "--files", "library", "--local")
    return made


def masked(text: str, shell: Shell) -> str:
    text = text.replace(str(shell.folder), "/home/you").replace(str(Path(sys.executable).parent), "/home/you/bin")
    for pattern, instead in MASKS:
        text = pattern.sub(instead, text)
    return "\n".join(line.rstrip() for line in text.splitlines())


def transcript(shell: Shell, commands: list[list[str]]) -> str:
    """What stands on a terminal: each command, what it says, and its exit code where it is not 0."""
    parts = []
    for arguments in commands:
        (first, *_) = Store(shell.home / "traces").traces()
        done = shell.run(*(first if each == "TRACE_ID" else each for each in arguments))
        typed = " ".join(f'"{each}"' if " " in each or not each else each for each in arguments)
        status = f"exit {done.returncode}\n" if done.returncode else ""
        parts.append(f"$ {f'marchwarden {typed}'.rstrip()}\n{done.stderr}{done.stdout}{status}")
    return masked("\n".join(parts), shell) + "\n"


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_command_looks_as_it_did_when_somebody_last_looked_at_it(shell: Shell, name: str):
    kept, now = KEPT / f"{name}.txt", transcript(shell, TRANSCRIPTS[name])
    if os.environ.get("MARCHWARDEN_SNAPSHOTS") == "write":
        kept.write_text(now, encoding="utf-8")
    assert now == kept.read_text(encoding="utf-8")


# Messages of one line and signs of life are for scripts and logs too, and never broken; nor is a command to copy.
WIDE = {"mistakes", "verify", "replay"}
UNBROKEN = re.compile(r"\$ |  marchwarden |\w+: .* tokens left, |.*/home/you")


@pytest.mark.parametrize("name", sorted(TRANSCRIPTS.keys() - WIDE))
def test_nothing_a_person_reads_is_wider_than_eighty_columns(name: str):
    kept = (KEPT / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    said = [line for line in kept if not UNBROKEN.match(line)]
    assert max(map(len, said)) <= 80


def test_no_snapshot_is_left_of_a_transcript_that_is_not_made_any_more():
    assert {path.stem for path in KEPT.glob("*.txt")} == set(TRANSCRIPTS)


def test_each_mistake_is_told_in_one_line_that_says_what_to_do():
    told = (KEPT / "mistakes.txt").read_text(encoding="utf-8").split("\n\n")
    assert len(told) == len(TRANSCRIPTS["mistakes"])
    for each in told:
        _, line, status = each.strip().splitlines()
        assert line.startswith("marchwarden: ")
        assert status == "exit 2"
