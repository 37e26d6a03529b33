"""Running: many questions put to one researcher, each answered once, whatever happens in between.

An answer counts as given when its line, `{"id": ..., "result": ...}`, is on the disk. Knows no suite and no screen.
"""

import json
import os
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
from marchwarden.protocols import Researcher, send_request


@dataclass(frozen=True)
class Task:
    """One question to ask, under the id its answer will carry."""

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
    """A results file, to be read and to be added to a line at a time."""

    path: Path

    def read(self) -> Mapping[str, ResearchResult]:
        """The results so far, by id. A torn last line is no answer: it was never acknowledged."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise InvalidInput(f"{self.path} cannot be read: {error.strerror}") from error
        whole = content[: content.rfind(b"\n") + 1]
        try:
            found = [_RESULT_LINE.validate_json(line) for line in whole.split(b"\n") if line.strip()]
        except ValidationError as error:
            raise InvalidInput(f"{self.path} is not a file of results; name another one") from error
        return {str(each.id): each.result for each in found}

    @contextmanager
    def opened(self) -> Iterator[int]:
        """To be added to, a torn last line cut off."""
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
) -> None:
    """Ask them all, so many at a time. The first that cannot be asked or kept ends it; what is on the disk stays.

    `named` says which run a task is; whoever can be told asks for that one, and finds it where it has begun.
    """
    limiter = anyio.CapacityLimiter(concurrency)
    failures: list[MarchwardenError] = []
    with answers.opened() as descriptor:

        async def answer(task: Task) -> None:
            try:
                async with limiter:
                    line = await _answer_line(researcher, task, run_id_for)
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


async def _answer_line(researcher: Researcher, task: Task, run_id_for: Callable[[Task], str] | None) -> bytes:
    found = await send_request(researcher, task.request, run_id_for(task) if run_id_for else None)
    return json.dumps({"id": task.id, "result": found.model_dump(mode="json")}, ensure_ascii=False).encode() + b"\n"


def _append(descriptor: int, line: bytes) -> None:
    try:
        written = os.write(descriptor, line)
    except OSError as error:
        raise StorageError(f"the results file took nothing more: {error.strerror}") from error
    if written != len(line):
        raise StorageError(f"the results file took {written} of {len(line)} bytes: is the disk full?")
