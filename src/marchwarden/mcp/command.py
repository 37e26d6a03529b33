"""Command: how to start a researcher as a process of our own. Loads nothing that takes long: the process does that."""

import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TextIO

import anyio

from marchwarden.errors import ResearcherUnavailable
from marchwarden.text.sanitize import one_line

if TYPE_CHECKING:
    from marchwarden.mcp.child import StdioConnection

LARGEST_ANSWER: Final = 16 << 20
_EVERY_PROGRAM_NEEDS: Final = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")


@dataclass(frozen=True)
class StdioTransport:
    """What to start, and what of our environment it gets besides the few variables every program needs."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    errlog: TextIO | None = None
    largest_answer: int = LARGEST_ANSWER

    @property
    def name(self) -> str:
        return one_line(" ".join(self.argv), 120)

    @asynccontextmanager
    async def opened(self) -> "AsyncIterator[StdioConnection]":
        """A process of its own. The conversation parts from it; where there was none, it is ended here."""
        inherited = {name: os.environ[name] for name in _EVERY_PROGRAM_NEEDS if name in os.environ}
        try:
            process = await anyio.open_process(list(self.argv), env={**inherited, **self.env}, start_new_session=True)
        except OSError as error:
            raise ResearcherUnavailable(f"{self.name}: {one_line(str(error), 200)}") from error
        try:
            from marchwarden.mcp.child import StdioConnection

            yield StdioConnection(process, self.largest_answer, self.errlog)
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                with anyio.CancelScope(shield=True):
                    await process.aclose()
