"""Hundreds of hostile strings in every text of a run: no command writes their control characters to the terminal.

With MARCHWARDEN_EVERY_ATTACK set, the thousands of strings of the report tests are used.
"""

import re
from pathlib import Path

import pytest

from marchwarden.storage.store import Store
from tests.cli.in_process import Shell
from tests.reports.hostile import batches, hostile, some_attacks
from tests.reports.samples import SampleRun, write_bare_run, write_run
from tests.researchers.web.test_injection import STYLE

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

INVISIBLE = "\u00ad\u034f\u061c\u115f\u180b-\u180e\u200b\u200e\u200f\u2060-\u2064\u3164\ufe00-\ufe0f\ufeff\ufff9-\ufffb"
CONTROL = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e0fff{INVISIBLE}]")
SEQUENCES = (
    "\x1b[2J",
    "\x1b]0;pwned\x07",
    "\x1b]8;;http://127.0.0.1:9/\x07",
    "\x9b31m",
    "\x1bc",
    "\x08\x08",
    "\u202e",
    "\r",
    "\u200b\u00ad\ufe0f\u2060",
    "\u3164\ufff9\u180e\U000e0101\u2028",
)
COMMANDS = (
    ("traces", "--limit", "500"),
    ("traces", "--json", "--limit", "500"),
    ("costs", "--by", "researcher"),
    ("verify", "TRACE_ID"),
    ("replay", "TRACE_ID"),
    ("replay", "TRACE_ID", "--json"),
    ("replay", "TRACE_ID", "--rerun"),
    ("report", "TRACE_ID", "--format", "md"),
    ("report", "TRACE_ID", "--format", "bibtex"),
    ("report", "TRACE_ID", "--format", "csl-json"),
    ("report", "TRACE_ID", "--format", "json"),
    ("report", "TRACE_ID"),
    ("refresh", "TRACE_ID"),
)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return Shell(tmp_path_factory.mktemp("shell"))


@pytest.fixture(scope="module")
def runs(shell: Shell) -> list[str]:
    """A few runs that contain all strings, each after a control sequence; some are questions."""
    store = Store(shell.home / "traces")
    strings = [f"{SEQUENCES[number % len(SEQUENCES)]}{each}" for number, each in enumerate(some_attacks())]
    for each in strings[::20]:
        write_bare_run(store, SampleRun("No.", question=f"q {each[:300]}".replace("\x00", ""), researcher=each))
    return [write_run(store, hostile(batch)) for batch in batches(strings, 800)]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_escape_sequence_reaches_the_terminal(shell: Shell, runs: list[str], command: tuple[str, ...]):
    for trace_id in runs if "TRACE_ID" in command else runs[:1]:
        done = shell.run(*(trace_id if word == "TRACE_ID" else word for word in command), FORCE_COLOR="1")
        assert done.returncode in {0, 1}, done.stderr
        shown = STYLE.sub("", done.stdout + done.stderr)
        assert not CONTROL.search(shown), re.findall(f".{{0,40}}{CONTROL.pattern}.{{0,20}}", shown)[:3]
        assert shown.strip()


def test_without_colour_there_are_no_escape_sequences(shell: Shell, runs: list[str]):
    done = shell.run("replay", runs[0], NO_COLOR="1")
    assert not CONTROL.search(done.stdout + done.stderr)


def test_error_messages_do_not_repeat_control_characters(shell: Shell, tmp_path: Path):
    for sequence in SEQUENCES:
        typed = f"x{sequence}y"
        for command in (
            ["verify", typed],
            ["replay", typed],
            ["ask", typed, "--files", typed],
            ["ask", "q", "--mind", typed],
        ):
            done = shell.run(*command)
            assert done.returncode == 2
            assert not CONTROL.search(done.stdout + done.stderr), command
