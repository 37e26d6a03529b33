"""Read a file of questions and answer those that have no result yet."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from uuid import UUID, uuid4, uuid5

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from marchwarden.cli.progress import WarningPrinter
from marchwarden.core.request import parse_request
from marchwarden.errors import InvalidInput
from marchwarden.evaluation.run import ResultsFile, Task, answer_all
from marchwarden.protocols import Researcher


@dataclass(frozen=True)
class Batch:
    """The questions without a result, and the file that results are appended to."""

    tasks: tuple[Task, ...]
    finished: int
    results: ResultsFile

    @classmethod
    def load(cls, questions: Path, results: Path) -> Self:
        """Read all questions before asking any. Raises `InvalidInput` with the number of the first bad line."""
        tasks, results_file = [*_tasks(questions)], ResultsFile(results)
        answered = results_file.read()
        unanswered = tuple(task for task in tasks if str(task.id) not in answered)
        return cls(unanswered, len(tasks) - len(unanswered), results_file)

    async def run(self, researcher: Researcher, concurrency: int, run_id: Callable[[Task], str] | None = None) -> None:
        """Answer the questions, with run ids from `run_id` if given."""
        with progress_bar() as bar:
            row = bar.add_task("questions", total=self.finished + len(self.tasks), completed=self.finished)
            warn = WarningPrinter(bar.console).report
            await answer_all(researcher, self.tasks, self.results, concurrency, lambda: bar.advance(row), run_id, warn)

    @contextmanager
    def run_ids(self) -> Iterator[Callable[[Task], str]]:
        """Yield a function that returns the run id of a task. Ids stay the same until the batch is complete."""
        path = self.results.path.with_name(f".{self.results.path.name}.batch")
        try:
            if not path.exists():
                path.write_text(str(uuid4()))
            batch = UUID(path.read_text().strip())
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"{path} must contain the id of this batch: {error}; delete it to start new runs"
            ) from error
        yield lambda task: str(uuid5(batch, f"{task.id} {task.request.model_dump_json()}"))
        path.unlink(missing_ok=True)


def progress_bar() -> Progress:
    """Return a progress bar on stderr."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True, highlight=False),
    )


def _tasks(path: Path) -> Iterator[Task]:
    seen_ids = set()
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read as a file of questions: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text, so it cannot be read as a file of questions") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        task = _task(line, f"{path}, line {number}")
        if str(task.id) in seen_ids:
            raise InvalidInput(f"{path}, line {number}: duplicate id {task.id!r}")
        seen_ids.add(str(task.id))
        yield task


def _task(line: str, place: str) -> Task:
    try:
        match json.loads(line):
            case {"id": str() | int() as id_, **arguments}:
                return Task(id_, parse_request({str(key): value for key, value in arguments.items()}))
    except ValueError as error:
        raise InvalidInput(f"{place}: not JSON ({error})") from error
    except InvalidInput as error:
        raise InvalidInput(f"{place}: {error}") from error
    raise InvalidInput(f'{place}: needs {{"id": ..., "question": ...}}')
