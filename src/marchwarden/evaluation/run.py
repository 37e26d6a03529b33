"""Ask one researcher many questions, each exactly once, even across interruptions.

A question is answered once its line, `{"id": ..., "result": ...}`, is on disk. Knows no suite and no terminal.
"""

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
from pydantic import TypeAdapter, ValidationError

from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import InvalidInput, MarchwardenError, StorageError
from marchwarden.evaluation.suite import Id
from marchwarden.protocols import ProgressSink, Researcher, ignore_progress, send_request
from marchwarden.storage.trace import write_all
from marchwarden.text.sanitize import json_text


@dataclass(frozen=True)
class Task:
    """One question to ask, with the id of its answer."""

    id: Id
    request: ResearchRequest


@dataclass(frozen=True)
class ResultLine:
    """One line of a results file."""

    id: Id
    result: ResearchResult


_RESULT_LINE: Final = TypeAdapter(ResultLine)


@dataclass(frozen=True)
class ResultsFile:
    """A results file that is read and appended to line by line."""

    path: Path

    def read(self) -> Mapping[str, ResearchResult]:
        """Return the results so far by id. A torn last line is ignored: its write was never confirmed."""
        try:
            # Reading a pipe or a terminal would wait for input.
            if not stat.S_ISREG(self.path.stat().st_mode):
                raise InvalidInput(f"{self.path} is not a regular file; choose a file for the results")
            content = self.path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise InvalidInput(f"{self.path} cannot be read: {error.strerror}") from error
        complete = content[: content.rfind(b"\n") + 1]
        try:
            found = [_RESULT_LINE.validate_json(line) for line in complete.split(b"\n") if line.strip()]
        except ValidationError as error:
            raise InvalidInput(f"{self.path} is not a results file; choose another file") from error
        return {str(each.id): each.result for each in found}

    @contextmanager
    def opened(self) -> Iterator[int]:
        """Open the file for appending, with a torn last line removed."""
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        except OSError as error:
            raise InvalidInput(f"{self.path} cannot be written: {error.strerror}") from error
        try:
            os.ftruncate(descriptor, self.path.read_bytes().rfind(b"\n") + 1)
            yield descriptor
        finally:
            os.close(descriptor)


async def answer_all(
    researcher: Researcher,
    tasks: Sequence[Task],
    answers: ResultsFile,
    concurrency: int = 4,
    on_answer: Callable[[], None] = lambda: None,
    run_id_for: Callable[[Task], str] | None = None,
    progress: ProgressSink = ignore_progress,
) -> None:
    """Ask all questions, `concurrency` at a time. The first failure ends the run; answers on disk are kept.

    `run_id_for` names the run of a task. A resumable researcher resumes that run if it has begun.
    """
    limiter = anyio.CapacityLimiter(concurrency)
    failures: list[MarchwardenError] = []
    with answers.opened() as descriptor:

        async def answer(task: Task) -> None:
            try:
                async with limiter:
                    line = await _answer_line(researcher, task, run_id_for, progress)
                _append(descriptor, line)
                on_answer()
            except MarchwardenError as error:
                failures.append(error)
                group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            for task in tasks:
                group.start_soon(answer, task)
    if failures:
        raise failures[0]


async def _answer_line(
    researcher: Researcher, task: Task, run_id_for: Callable[[Task], str] | None, progress: ProgressSink
) -> bytes:
    trace_id = run_id_for(task) if run_id_for else None
    found = await send_request(researcher, task.request, trace_id, progress=progress)
    return json_text({"id": task.id, "result": found.model_dump(mode="json")}).encode() + b"\n"


def _append(descriptor: int, line: bytes) -> None:
    try:
        write_all(descriptor, line)
    except OSError as error:
        raise StorageError(f"the results file cannot be written: {error.strerror}") from error
