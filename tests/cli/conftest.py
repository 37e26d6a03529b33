"""The command line: in this process, or in one of its own as a person runs it; always with a home of its own."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.in_process import Done, Shell, bare_environment
from tests.world.folder import a_folder

Run = Callable[..., Done]
Process = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return a_folder(tmp_path / "library")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**bare_environment(), "MARCHWARDEN_HOME": str(tmp_path / "home"), "COLUMNS": "80"}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The command line without the second that a process takes to start; researchers still are processes of theirs."""
    return Shell(tmp_path).run


@pytest.fixture
def process(tmp_path: Path, environment: dict[str, str]) -> Process:
    """The command line as a person runs it."""

    def run_it(*arguments: str | bytes | Path) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "marchwarden", *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=300
        )

    return run_it
