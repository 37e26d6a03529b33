"""Run the command line in this process, with its own environment, folder, streams and log."""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from marchwarden.cli.main import main


def bare_environment() -> dict[str, str]:
    """Return the environment without Marchwarden's variables and without API keys."""
    ours = ("MARCHWARDEN_", "TAVILY_", "ANTHROPIC_", "OPENAI_", "GOOGLE_", "GEMINI_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


@dataclass(frozen=True)
class CommandResult:
    returncode: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Shell:
    """A working folder with a home folder inside, and no keys."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def run(self, *arguments: str | bytes | Path, **more: str) -> CommandResult:
        """Run a command. Bytes are decoded like the arguments of a process."""
        variables = {"MARCHWARDEN_HOME": str(self.home), "COLUMNS": "80", "LINES": "24", **more}
        hidden = dict.fromkeys(set(os.environ) - set(bare_environment()))
        status = 0
        isolated = CliRunner().isolation(env={**hidden, **variables})
        with restored_log(), chdir(self.folder), isolated as (out, err, _):
            try:
                main([os.fsdecode(argument) for argument in arguments])
            except SystemExit as exit_:
                status = exit_.code if isinstance(exit_.code, int) else 1
            return CommandResult(status, out.getvalue().decode(), err.getvalue().decode())


@contextmanager
def restored_log(**changes: str) -> Iterator[Mapping[str, str]]:
    """Restore the logging configuration, which is global, after the block."""
    root, ours = logging.getLogger(), logging.getLogger("marchwarden")
    handlers, levels = [*root.handlers], (root.level, ours.level)
    try:
        yield changes
    finally:
        root.handlers[:] = handlers
        root.setLevel(levels[0])
        ours.setLevel(levels[1])
