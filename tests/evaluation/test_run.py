import json
from dataclasses import dataclass, field

import anyio
import pytest

from marchwarden.contract import ResearchRequest
from marchwarden.errors import InvalidInput, StorageError
from marchwarden.evaluation.run import ResultsFile, Task, answer_all
from tests.evaluation.results import a_result

TASKS = [Task(name, ResearchRequest(question=f"What is {name}?")) for name in ("a", 2, "c", "d")]


@dataclass
class Counting:
    """Answers everything, and remembers what it was asked and how much of it at once."""

    failing: str = ""
    asked: list[str] = field(default_factory=list)
    at_once: int = 0
    most: int = 0

    async def research(self, question, context=None, depth="balanced", constraints=None, **_):
        self.asked.append(question)
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await anyio.lowlevel.checkpoint()
        self.at_once -= 1
        if question == self.failing:
            raise StorageError("the disk is full")
        return a_result(answer=question)


async def test_every_task_is_answered_once_under_its_id(tmp_path):
    answers, who, steps = ResultsFile(tmp_path / "out.jsonl"), Counting(), []
    await answer_all(who, TASKS, answers, 2, lambda: steps.append(1))
    assert {name: result.answer for name, result in answers.read().items()} == {
        str(task.id): task.request.question for task in TASKS
    }
    assert [type(json.loads(line)["id"]) for line in answers.path.read_text().splitlines()].count(int) == 1
    assert (len(steps), who.most) == (4, 2)


async def test_a_torn_line_is_no_answer_and_is_cut_off_before_the_next(tmp_path):
    answers = ResultsFile(tmp_path / "out.jsonl")
    await answer_all(Counting(), TASKS[:2], answers)
    whole = answers.path.read_bytes()
    answers.path.write_bytes(whole[:-20])
    assert len(answers.read()) == 1
    await answer_all(Counting(), [task for task in TASKS if str(task.id) not in answers.read()], answers)
    assert set(answers.read()) == {"a", "2", "c", "d"}


async def test_a_failure_of_ours_ends_the_run_and_keeps_what_was_answered(tmp_path):
    answers = ResultsFile(tmp_path / "out.jsonl")
    with pytest.raises(StorageError):
        await answer_all(Counting(failing="What is c?"), TASKS, answers, 1)
    assert set(answers.read()) == {"a", "2"}


def test_nothing_is_read_where_nothing_is(tmp_path):
    assert ResultsFile(tmp_path / "out.jsonl").read() == {}


@pytest.mark.parametrize("line", ["my notes", '{"id": "a"}', '{"id": "a", "result": {"answer": "x"}}', "[1]"])
def test_a_file_that_holds_no_results_is_refused(tmp_path, line):
    path = tmp_path / "precious.txt"
    path.write_text(line + "\n")
    with pytest.raises(InvalidInput):
        ResultsFile(path).read()


async def test_a_place_that_cannot_be_written_is_refused_before_anything_is_asked(tmp_path):
    who = Counting()
    with pytest.raises(InvalidInput):
        await answer_all(who, TASKS, ResultsFile(tmp_path / "nowhere" / "out.jsonl"))
    assert who.asked == []
