import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from marchwarden.cli.completing import SHELLS
from tests.cli.conftest import bare_environment
from tests.cli.in_process import Shell


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_each_shell_is_printed_and_that_shell_can_read_it(tmp_path: Path, shell: str):
    done = Shell(tmp_path).run("completion", shell)
    assert done.returncode == 0
    assert "_MARCHWARDEN_COMPLETE" in done.stdout
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    checked = subprocess.run([shell, "-n"], input=done.stdout, capture_output=True, text=True, check=False, timeout=30)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_what_the_script_asks_for_is_answered():
    asked = {"_MARCHWARDEN_COMPLETE": "bash_complete", "COMP_WORDS": "marchwarden mcp-config cl", "COMP_CWORD": "2"}
    command = [sys.executable, "-m", "marchwarden"]
    environment = {**bare_environment(), **asked, "PATH": os.environ["PATH"]}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.split() == ["plain,claude-desktop", "plain,claude-code"]
