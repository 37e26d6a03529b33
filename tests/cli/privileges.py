"""Run the command line with the permissions of an ordinary user, even if the tests run as root."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.in_process import bare_environment

DROPPED = "--bounding-set=-dac_override,-dac_read_search"


def without_privileges(*arguments: str, home: Path, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """Run a command that cannot read or enter what its permissions forbid."""
    prefix = []
    if os.geteuid() == 0:
        program = shutil.which("setpriv")
        if program is None:
            pytest.skip("root can read everything, and setpriv is not installed")
        prefix = [program, DROPPED]
    command = [*prefix, sys.executable, "-m", "marchwarden", *arguments]
    environ = {**bare_environment(), "MARCHWARDEN_HOME": str(home), "COLUMNS": "80"}
    return subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, check=False, timeout=120)
