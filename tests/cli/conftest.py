"""The command line as a person runs it: a process of its own, a home of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.world.folder import a_folder

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def bare_environment() -> dict[str, str]:
    """This process's environment without our variables and without anybody's keys."""
    ours = ("MARCHWARDEN_", "TAVILY_", "ANTHROPIC_", "OPENAI_", "GOOGLE_", "GEMINI_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return a_folder(tmp_path / "library")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**bare_environment(), "MARCHWARDEN_HOME": str(tmp_path / "home"), "COLUMNS": "80"}


@pytest.fixture
def run(tmp_path: Path, environment: dict[str, str]) -> Run:
    def run_it(*arguments: str | bytes | Path, cwd: Path = tmp_path, **more: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "marchwarden", *arguments]
        return subprocess.run(
            command, cwd=cwd, env=environment | more, capture_output=True, text=True, check=False, timeout=60
        )

    return run_it
