"""Many questions in one warm process, each answered once, whatever happens in between."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import anyio
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from marchwarden.contract import ResearchRequest
from marchwarden.errors import InvalidInput, StorageError
from marchwarden.protocols import Researcher
from marchwarden.refusals import checked


@dataclass(frozen=True)
class Task:
    """One question of the file, under the id its answer will carry."""

    id: str | int
    request: ResearchRequest


@dataclass(frozen=True)
class Batch:
    """The questions still to be answered, and the file their answers are added to."""

    tasks: tuple[Task, ...]
    finished: int
    results: Path

    @classmethod
    def of(cls, questions: Path, results: Path) -> Self:
        """Read all questions before asking any: a bad line is refused with its number, and costs nothing."""
        tasks = list(_tasks(questions))
        done = _finished(results)
        waiting = tuple(task for task in tasks if task.id not in done)
        return cls(waiting, len(tasks) - len(waiting), results)

    async def run(self, researcher: Researcher, concurrency: int) -> None:
        """Ask them all, so many at a time. An answer counts as given when its line is on the disk."""
        limiter = anyio.CapacityLimiter(concurrency)
        with _bar() as bar, _opened(self.results) as descriptor:
            shown = bar.add_task("questions", total=self.finished + len(self.tasks), completed=self.finished)

            async def answer(task: Task) -> None:
                async with limiter:
                    line = await _answered(researcher, task)
                _append(descriptor, line)
                bar.advance(shown)

            async with anyio.create_task_group() as group:
                for task in self.tasks:
                    group.start_soon(answer, task)


async def _answered(researcher: Researcher, task: Task) -> bytes:
    request = task.request
    found = await researcher.research(request.question, request.context, request.depth, request.constraints)
    return json.dumps({"id": task.id, "result": found.model_dump(mode="json")}, ensure_ascii=False).encode() + b"\n"


def _tasks(path: Path) -> Iterator[Task]:
    seen = set()
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as a file of questions: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        task = _task(line, f"{path}, line {number}")
        if task.id in seen:
            raise InvalidInput(f"{path}, line {number}: the id {task.id!r} is there twice")
        seen.add(task.id)
        yield task


def _task(line: str, place: str) -> Task:
    try:
        match json.loads(line):
            case {"id": str() | int() as name, **given}:
                return Task(name, checked({str(key): value for key, value in given.items()}))
    except ValueError as error:
        raise InvalidInput(f"{place}: not JSON ({error})") from error
    except InvalidInput as error:
        raise InvalidInput(f"{place}: {error}") from error
    raise InvalidInput(f'{place}: needs {{"id": ..., "question": ...}}')


def _finished(results: Path) -> set[str | int]:
    """The ids answered so far. A torn last line is cut off: it was never acknowledged."""
    if not results.exists():
        return set()
    content = results.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole != len(content):
        os.truncate(results, whole)
    try:
        return {json.loads(line)["id"] for line in content[:whole].splitlines() if line.strip()}
    except (ValueError, TypeError, KeyError) as error:
        raise InvalidInput(f"{results} is not a file of results; give another one with -o") from error


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """The results file, to be added to a line at a time."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _append(descriptor: int, line: bytes) -> None:
    written = os.write(descriptor, line)
    if written != len(line):
        raise StorageError(f"the results file took {written} of {len(line)} bytes: is the disk full?")


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True, highlight=False),
    )
