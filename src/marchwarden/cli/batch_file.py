"""A file of questions: read whole before any is asked, then only those that have no answer yet."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from uuid import UUID, uuid4, uuid5

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from marchwarden.core.request import parse_request
from marchwarden.errors import InvalidInput
from marchwarden.evaluation.run import ResultsFile, Task, answer_all
from marchwarden.protocols import Researcher


@dataclass(frozen=True)
class Batch:
    """The questions still to be answered, and the file their answers are added to."""

    tasks: tuple[Task, ...]
    finished: int
    answers: ResultsFile

    @classmethod
    def of(cls, questions: Path, results: Path) -> Self:
        """Read all questions before asking any: a bad line is refused with its number, and costs nothing."""
        tasks, answers = [*_tasks(questions)], ResultsFile(results)
        done = answers.read()
        waiting = tuple(task for task in tasks if str(task.id) not in done)
        return cls(waiting, len(tasks) - len(waiting), answers)

    async def run(self, researcher: Researcher, concurrency: int, named: Callable[[Task], str] | None = None) -> None:
        with progress_bar() as bar:
            shown = bar.add_task("questions", total=self.finished + len(self.tasks), completed=self.finished)
            await answer_all(researcher, self.tasks, self.answers, concurrency, lambda: bar.advance(shown), named)

    @contextmanager
    def names(self) -> Iterator[Callable[[Task], str]]:
        """The run of each task: the same until the batch is whole, however often it is begun."""
        path = self.answers.path.with_name(f".{self.answers.path.name}.batch")
        try:
            if not path.exists():
                path.write_text(str(uuid4()))
            batch = UUID(path.read_text().strip())
        except (OSError, ValueError) as error:
            raise InvalidInput(f"{path} should name this batch, and does not: {error}") from error
        yield lambda task: str(uuid5(batch, f"{task.id} {task.request.model_dump_json()}"))
        path.unlink(missing_ok=True)


def progress_bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True, highlight=False),
    )


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
        if str(task.id) in seen:
            raise InvalidInput(f"{path}, line {number}: the id {task.id!r} is there twice")
        seen.add(str(task.id))
        yield task


def _task(line: str, place: str) -> Task:
    try:
        match json.loads(line):
            case {"id": str() | int() as name, **given}:
                return Task(name, parse_request({str(key): value for key, value in given.items()}))
    except ValueError as error:
        raise InvalidInput(f"{place}: not JSON ({error})") from error
    except InvalidInput as error:
        raise InvalidInput(f"{place}: {error}") from error
    raise InvalidInput(f'{place}: needs {{"id": ..., "question": ...}}')
