"""Run each database job in its own child process, kill it when it takes too long, and validate its output."""

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
from marchwarden.researchers.database.jobs import DatabaseJob, JobKind, JobOutcome, QueryLimits, Reason, Refusal, Target
from marchwarden.text.sanitize import one_line

STARTING_SECONDS: Final = 6.0
"""Extra time for a child to start and import its modules on a busy machine."""
MAX_SCHEMA_BYTES: Final = 64_000_000
_BYTES_PER_CHARACTER: Final = 12
_COMMAND: Final = (sys.executable, "-P", "-s", "-m", "marchwarden.researchers.database.worker")
_OUTCOME: Final = TypeAdapter(JobOutcome)
_NO_ANSWER: Final = Refusal("the process that reads the database ended without a result", Reason.UNREACHABLE)
_CATEGORIES: Final = {Reason.MALFORMED: GapCategory.SOURCE_NOT_FOUND}


class QueryFailed(SourceError):
    """A statement was refused, failed or timed out. `reason` says which."""

    def __init__(self, refusal: Refusal) -> None:
        category = _CATEGORIES.get(refusal.reason, GapCategory.ACCESS_DENIED)
        super().__init__(one_line(refusal.detail), category)
        self.reason = refusal.reason

    def for_database(self, name: str) -> Self:
        """Return the same error with the name of the database."""
        return type(self)(Refusal(f"{name}: {self.detail}", self.reason))


class JobRunner:
    """Runs jobs on one database. Several may run concurrently."""

    def __init__(
        self,
        target: Target,
        limits: QueryLimits,
        *,
        command: Sequence[str] = _COMMAND,
        starting_seconds: float = STARTING_SECONDS,
    ) -> None:
        self.limits = limits
        self._target = target
        self._command = command
        self._starting_seconds = starting_seconds

    async def run(self, kind: JobKind, sql: str = "") -> JobOutcome:
        """Run a job. Raises `QueryFailed` if it is refused, fails or takes too long."""
        seconds = self.limits.schema_seconds if kind is JobKind.SCHEMA else self.limits.seconds
        max_bytes = MAX_SCHEMA_BYTES if kind is JobKind.SCHEMA else (self.limits.size + len(sql)) * _BYTES_PER_CHARACTER
        job = DatabaseJob(kind, self._target, self.limits, sql)
        try:
            with anyio.fail_after(seconds + self._starting_seconds):
                outcome = await self._run_child(json.dumps(asdict(job)).encode(), max_bytes, seconds)
        except TimeoutError as error:
            raise QueryFailed(_timeout_refusal(seconds)) from error
        if outcome.refusal is not None:
            raise QueryFailed(outcome.refusal)
        if {JobKind.SCHEMA: outcome.schema, JobKind.CHECK: outcome.sql, JobKind.RUN: outcome.rows}[kind] is None:
            raise QueryFailed(_NO_ANSWER)
        return outcome

    async def _run_child(self, job: bytes, max_bytes: int, seconds: float) -> JobOutcome:
        # The child gets no environment except the path of this package, so it sees no API keys. The password comes
        # through the pipe, where no process list shows it.
        env = {"PYTHONPATH": str(Path(__file__).parents[3]), "PYTHONUTF8": "1"}
        # Leaving the block early, by the deadline or by cancellation, kills the child.
        async with await anyio.open_process(self._command, stderr=subprocess.DEVNULL, env=env) as child:
            content = await _communicate(child, job, max_bytes)
            exit_code = await child.wait()
        if exit_code in (-signal.SIGALRM, -signal.SIGXCPU):
            return JobOutcome(refusal=_timeout_refusal(seconds))
        try:
            return _OUTCOME.validate_json(content)
        except ValidationError:
            return JobOutcome(refusal=_NO_ANSWER)


async def _communicate(child: Process, job: bytes, max_bytes: int) -> bytes:
    """Send the job and return the output of the child; empty if it is longer than `max_bytes`."""
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        await child.stdin.send(job)
        await child.stdin.aclose()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return b""
    content = bytearray()
    async for chunk in child.stdout:
        content += chunk
        if len(content) > max_bytes:
            child.kill()
            return b""
    return bytes(content)


def _timeout_refusal(seconds: float) -> Refusal:
    return Refusal(f"reading the database took longer than {seconds:g} seconds", Reason.TOO_MUCH)
