import json
from pathlib import Path
from typing import Any

import pytest

QUESTIONS = [
    {"id": "a", "question": "When was the Alder Bridge opened?"},
    {
        "id": 2,
        "question": "What does a soup need?",
        "depth": "shallow",
        "context": "",
        "constraints": {"max_sources": 1},
    },
    {"id": "c", "question": "Who won the 1998 football world cup?"},
]


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(json.dumps(each) for each in QUESTIONS) + "\n\n")
    return path


def answers(path: Path) -> Any:
    return {each["id"]: each["result"] for each in map(json.loads, path.read_text().splitlines())}


def test_every_question_is_answered_once_under_its_id(run, folder, questions, tmp_path):
    out = tmp_path / "out.jsonl"
    done = run("batch", questions, "--files", folder, "-o", out)
    assert done.returncode == 0, done.stderr
    assert "3/3" in done.stderr
    found = answers(out)
    assert set(found) == {"a", 2, "c"}
    assert "1931" in found["a"]["answer"]
    assert found["c"]["citations"] == []


def test_finished_ids_are_skipped_and_an_incomplete_line_is_asked_again(run, folder, questions, tmp_path):
    out = tmp_path / "out.jsonl"
    run("batch", questions, "--files", folder, "-o", out)
    lines = out.read_text().splitlines(keepends=True)
    out.write_text(lines[0] + lines[1] + lines[2][:50])
    before = [json.loads(line)["result"]["trace_id"] for line in lines[:2]]
    run("batch", questions, "--files", folder, "-o", out)
    after = [json.loads(line)["result"]["trace_id"] for line in out.read_text().splitlines()]
    assert after[:2] == before
    assert len(after) == 3


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nonsense", "line 4: not JSON"),
        ('{"question": "no id"}', "line 4: needs"),
        ('{"id": "a", "question": "again"}', "line 4: duplicate id 'a'"),
        ('{"id": "d", "question": ""}', "line 4: question must not be empty"),
        ('{"id": "d", "question": "q", "depth": "abyssal"}', "line 4: depth must be"),
        ('{"id": "d", "question": "q", "constraints": {"max_sources": "1"}}', "line 4: constraints.max_sources"),
        ("[1]", "line 4: needs"),
    ],
)
def test_a_bad_line_is_reported_with_its_number_before_any_question_is_asked(
    run, folder, questions, tmp_path, line, expected
):
    questions.write_text(questions.read_text().strip() + "\n" + line + "\n")
    done = run("batch", questions, "--files", folder, "-o", tmp_path / "out.jsonl")
    assert (done.returncode, expected in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_a_file_without_results_is_not_overwritten(run, folder, questions, tmp_path):
    out = tmp_path / "precious.txt"
    out.write_text("my notes\n")
    assert run("batch", questions, "--files", folder, "-o", out).returncode == 2
    assert out.read_text() == "my notes\n"
