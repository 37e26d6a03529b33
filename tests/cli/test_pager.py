"""Output is paged on a terminal only. Uses a pseudoterminal."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from marchwarden.storage.store import Store
from tests.cli.in_process import Shell, bare_environment
from tests.reports.samples import SampleRun, write_run

pytestmark = pytest.mark.slow


def run_on_terminal(command: list[str], environ: dict[str, str]) -> str:
    """Run a command on a new pseudoterminal and return its output."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environ) as child:
        os.close(theirs)
        output = b""
        try:
            while chunk := os.read(ours, 4096):
                output += chunk
        except OSError:
            pass  # the other end is closed
        child.wait(60)
    os.close(ours)
    return output.decode()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    store = Store(tmp_path / "home" / "traces")
    for number in range(20):
        write_run(store, SampleRun("One.", question=f"Question {number}?"))
    return tmp_path


@pytest.mark.parametrize("colours", [True, False])
def test_a_long_list_is_paged_with_and_without_colours(home: Path, colours: bool):
    pager = home / "pager"
    pager.write_text(f"#!/bin/sh\ncat > {home}/paged\n")
    pager.chmod(0o755)
    environ = {**bare_environment(), "MARCHWARDEN_HOME": str(home / "home"), "PAGER": str(pager), "TERM": "xterm"}
    more = {"COLUMNS": "80", "LINES": "24"} | ({} if colours else {"NO_COLOR": "1"})
    environ.pop("NO_COLOR", None)
    run_on_terminal([sys.executable, "-m", "marchwarden", "traces"], {**environ, **more})
    paged = (home / "paged").read_text()
    assert len(re.findall(r"Question \d+\?", paged)) == 20
    assert ("\x1b[" in paged and "36m" in paged) == colours


def test_a_pipe_gets_plain_text(home: Path):
    done = Shell(home).run("traces", PAGER="/no/such/pager")
    assert done.stdout.count("Question") == 20
    assert "\x1b" not in done.stdout
