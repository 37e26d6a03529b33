import json
from dataclasses import dataclass, field

import anyio
import pytest

from marchwarden.contract import ResearchRequest
from marchwarden.errors import InvalidInput, StorageError
from marchwarden.evaluation.run import ResultsFile, Task, answer_all
from marchwarden.text.sanitize import visible
from tests.evaluation.results import a_result

TASKS = [Task(name, ResearchRequest(question=f"What is {name}?")) for name in ("a", 2, "c", "d")]


@dataclass
class CountingResearcher:
    """Answers everything, and records the questions and the maximum concurrency."""

    failing: str = ""
    asked: list[str] = field(default_factory=list)
    running: int = 0
    max_running: int = 0

    async def research(self, question, context=None, depth="balanced", constraints=None, **_):
        self.asked.append(question)
        self.running += 1
        self.max_running = max(self.max_running, self.running)
        await anyio.lowlevel.checkpoint()
        self.running -= 1
        if question == self.failing:
            raise StorageError("the disk is full")
        return a_result(answer=question)


async def test_every_task_is_answered_once_under_its_id(tmp_path):
    answers, researcher, steps = ResultsFile(tmp_path / "out.jsonl"), CountingResearcher(), []
    await answer_all(researcher, TASKS, answers, 2, lambda: steps.append(1))
    assert {name: result.answer for name, result in answers.read().items()} == {
        str(task.id): task.request.question for task in TASKS
    }
    assert [type(json.loads(line)["id"]) for line in answers.path.read_text().splitlines()].count(int) == 1
    assert (len(steps), researcher.max_running) == (4, 2)


async def test_results_keep_their_characters_in_escaped_form(tmp_path):
    answers, odd = ResultsFile(tmp_path / "out.jsonl"), "What is \x9b2J \u202ea\u200b?"
    await answer_all(CountingResearcher(), [Task("odd", ResearchRequest(question=odd))], answers)
    assert answers.read()["odd"].answer == odd
    assert visible(answers.path.read_text()) == answers.path.read_text()


async def test_torn_line_is_ignored_and_removed(tmp_path):
    answers = ResultsFile(tmp_path / "out.jsonl")
    await answer_all(CountingResearcher(), TASKS[:2], answers)
    whole = answers.path.read_bytes()
    answers.path.write_bytes(whole[:-20])
    assert len(answers.read()) == 1
    await answer_all(CountingResearcher(), [task for task in TASKS if str(task.id) not in answers.read()], answers)
    assert set(answers.read()) == {"a", "2", "c", "d"}


async def test_failure_ends_the_run_and_keeps_answers(tmp_path):
    answers = ResultsFile(tmp_path / "out.jsonl")
    with pytest.raises(StorageError):
        await answer_all(CountingResearcher(failing="What is c?"), TASKS, answers, 1)
    assert set(answers.read()) == {"a", "2"}


def test_missing_results_file_is_empty(tmp_path):
    assert ResultsFile(tmp_path / "out.jsonl").read() == {}


@pytest.mark.parametrize("line", ["my notes", '{"id": "a"}', '{"id": "a", "result": {"answer": "x"}}', "[1]"])
def test_file_without_results_is_rejected(tmp_path, line):
    path = tmp_path / "precious.txt"
    path.write_text(line + "\n")
    with pytest.raises(InvalidInput):
        ResultsFile(path).read()


async def test_unwritable_results_file_is_rejected_before_asking(tmp_path):
    researcher = CountingResearcher()
    with pytest.raises(InvalidInput):
        await answer_all(researcher, TASKS, ResultsFile(tmp_path / "nowhere" / "out.jsonl"))
    assert researcher.asked == []
