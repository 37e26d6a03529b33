"""Runner: does jobs in processes of their own, one a job, and kills those that take too long. Believes no answer that
it has not checked.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final, Self

import anyio
from anyio.abc import Process
from pydantic import TypeAdapter, ValidationError

from marchwarden.contract import GapCategory
from marchwarden.errors import SourceError
from marchwarden.researchers.database.jobs import Errand, Job, Limits, Outcome, Reason, Refusal, Target
from marchwarden.text.sanitize import one_line

STARTING_SECONDS: Final = 6.0
"""What a child may take for its own imports, on a machine that has other things to do."""
LARGEST_SCHEMA: Final = 64_000_000
_CHARACTERS_AS_JSON: Final = 12
_COMMAND: Final = (sys.executable, "-P", "-s", "-m", "marchwarden.researchers.database.worker")
_OUTCOME: Final = TypeAdapter(Outcome)
_NO_ANSWER: Final = Refusal("reading the database ended without an answer", Reason.UNREACHABLE)
_CATEGORIES: Final = {Reason.MALFORMED: GapCategory.SOURCE_NOT_FOUND}


class NotDone(SourceError):
    """The database was not asked, or did not answer; `reason` says which."""

    def __init__(self, refusal: Refusal) -> None:
        category = _CATEGORIES.get(refusal.reason, GapCategory.ACCESS_DENIED)
        super().__init__(one_line(refusal.detail), category)
        self.reason = refusal.reason

    def of(self, name: str) -> Self:
        """The same, said of a database by its name."""
        return type(self)(Refusal(f"{name}: {self.detail}", self.reason))


class Runner:
    """Jobs on one database. Several may be under way at once."""

    def __init__(
        self,
        target: Target,
        limits: Limits,
        *,
        command: Sequence[str] = _COMMAND,
        starting_seconds: float = STARTING_SECONDS,
    ) -> None:
        self.limits = limits
        self._target = target
        self._command = command
        self._starting = starting_seconds

    async def do(self, errand: Errand, sql: str = "") -> Outcome:
        """What an errand brought; raises `NotDone` where it was refused, failed or took too long."""
        seconds = self.limits.schema_seconds if errand is Errand.SCHEMA else self.limits.seconds
        most = LARGEST_SCHEMA if errand is Errand.SCHEMA else (self.limits.size + len(sql)) * _CHARACTERS_AS_JSON
        job = Job(errand, self._target, self.limits, sql)
        try:
            with anyio.fail_after(seconds + self._starting):
                outcome = await self._done(json.dumps(asdict(job)).encode(), most, seconds)
        except TimeoutError as error:
            raise NotDone(_too_long(seconds)) from error
        if outcome.refusal is not None:
            raise NotDone(outcome.refusal)
        if {Errand.SCHEMA: outcome.schema, Errand.CHECK: outcome.sql, Errand.RUN: outcome.rows}[errand] is None:
            raise NotDone(_NO_ANSWER)
        return outcome

    async def _done(self, job: bytes, most: int, seconds: float) -> Outcome:
        # The child gets no environment beyond where this package stands: keys are not its business, and the password
        # it needs comes through the pipe, where no list of processes shows it.
        env = {"PYTHONPATH": str(Path(__file__).parents[3]), "PYTHONUTF8": "1"}
        # Leaving the block early, by the deadline or by a cancellation, kills the child.
        async with await anyio.open_process(self._command, stderr=subprocess.DEVNULL, env=env) as child:
            content = await _exchanged(child, job, most)
            ended = await child.wait()
        if ended in (-signal.SIGALRM, -signal.SIGXCPU):
            return Outcome(refusal=_too_long(seconds))
        try:
            return _OUTCOME.validate_json(content)
        except ValidationError:
            return Outcome(refusal=_NO_ANSWER)


async def _exchanged(child: Process, job: bytes, most: int) -> bytes:
    """All that a child answers, as long as it is no more than expected."""
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        await child.stdin.send(job)
        await child.stdin.aclose()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return b""
    content = bytearray()
    async for piece in child.stdout:
        content += piece
        if len(content) > most:
            child.kill()
            return b""
    return bytes(content)


def _too_long(seconds: float) -> Refusal:
    return Refusal(f"it took longer than {seconds:g} seconds", Reason.TOO_MUCH)
