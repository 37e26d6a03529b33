import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from marchwarden.cli.commands.completion import SHELLS
from marchwarden.storage.store import Store
from tests.cli.in_process import Shell, bare_environment
from tests.reports.samples import SampleRun, write_run

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_each_shell_is_valid(tmp_path: Path, shell: str):
    done = Shell(tmp_path).run("completion", shell)
    assert done.returncode == 0
    assert "_MARCHWARDEN_COMPLETE" in done.stdout
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    checked = subprocess.run([shell, "-n"], input=done.stdout, capture_output=True, text=True, check=False, timeout=30)
    assert (checked.returncode, checked.stderr) == (0, "")


def complete(words: str, kind: str = "bash", **more: str) -> str:
    variables = {"_MARCHWARDEN_COMPLETE": f"{kind}_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    command = [sys.executable, "-m", "marchwarden"]
    environment = {**bare_environment(), **variables, **more}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_values_are_complete():
    assert complete("marchwarden mcp-config cl").split() == ["plain,claude-desktop", "plain,claude-code"]


def test_trace_ids_are_completed_with_their_questions(tmp_path: Path):
    store = Store(tmp_path / "home" / "traces")
    run = write_run(store, SampleRun("One.", question="Who \x1b[31mrepainted it?"))
    write_run(store, SampleRun("Two.", question="Who else?"))
    home = {"MARCHWARDEN_HOME": str(tmp_path / "home")}
    assert complete(f"marchwarden verify {run[:6]}", **home) == f"plain,{run}\n"
    assert complete(f"marchwarden report {run[:6]}", "zsh", **home) == f"plain\n{run}\nWho [31mrepainted it?\n"
    assert complete("marchwarden replay --rerun ", **home).count("plain,") == 2
    assert complete("marchwarden resume ", MARCHWARDEN_HOME=str(tmp_path / "nowhere")).strip() == ""
