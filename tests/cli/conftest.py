"""Fixtures that run the command line, in this process or in a child process, each with its own home folder."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.in_process import CommandResult, Shell, bare_environment
from tests.world.folder import a_folder

Run = Callable[..., CommandResult]
Process = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return a_folder(tmp_path / "library")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**bare_environment(), "MARCHWARDEN_HOME": str(tmp_path / "home"), "COLUMNS": "80"}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run the command line in this process, which saves a second. Researchers still run in child processes."""
    return Shell(tmp_path).run


@pytest.fixture
def process(tmp_path: Path, environment: dict[str, str]) -> Process:
    """Run the command line in a child process, as users do."""

    def run_process(*arguments: str | bytes | Path) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "marchwarden", *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=300
        )

    return run_process
