"""The command line without a process of its own: the same `main`, its own environment, folder, streams and log."""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from marchwarden.cli.main import main


def bare_environment() -> dict[str, str]:
    """This process's environment without our variables and without anybody's keys."""
    ours = ("MARCHWARDEN_", "TAVILY_", "ANTHROPIC_", "OPENAI_", "GOOGLE_", "GEMINI_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Shell:
    """A folder to stand in and a home; nobody's keys."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def run(self, *arguments: str | bytes | Path, **more: str) -> Done:
        """What the command ends with and prints. Bytes reach it as the system passes them to a program."""
        ours = {"MARCHWARDEN_HOME": str(self.home), "COLUMNS": "80", "LINES": "24", **more}
        hidden = dict.fromkeys(set(os.environ) - set(bare_environment()))
        status = 0
        isolated = CliRunner().isolation(env={**hidden, **ours})
        with restored_log(), chdir(self.folder), isolated as (out, err, _):
            try:
                main([os.fsdecode(argument) for argument in arguments])
            except SystemExit as ended:
                status = ended.code if isinstance(ended.code, int) else 1
            return Done(status, out.getvalue().decode(), err.getvalue().decode())


@contextmanager
def restored_log(**changes: str) -> Iterator[Mapping[str, str]]:
    """Setting up the log is for a whole process: here it lasts as long as the block."""
    root, ours = logging.getLogger(), logging.getLogger("marchwarden")
    handlers, levels = [*root.handlers], (root.level, ours.level)
    try:
        yield changes
    finally:
        root.handlers[:] = handlers
        root.setLevel(levels[0])
        ours.setLevel(levels[1])
