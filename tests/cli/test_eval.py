import json
from dataclasses import replace

import pytest

from tests.evaluation.results import QUESTIONS, SUITE, write_suite


@pytest.fixture
def suite(tmp_path):
    return write_suite(SUITE, tmp_path / "small")


def test_a_suite_is_measured_and_its_results_are_saved(run, suite, tmp_path):
    out, html = tmp_path / "out.jsonl", tmp_path / "page.html"
    done = run("eval", suite, "-o", out, "--html", html)
    assert done.returncode == 0, done.stderr
    assert "3/3" in done.stderr
    assert "small (sha256:" in done.stdout
    assert "verbatim                       1.000" in done.stdout
    assert {json.loads(line)["id"] for line in out.read_text().splitlines()} == {"q1", "q2", "q3"}
    assert "<svg" in html.read_text()


def test_finished_questions_are_skipped_and_two_results_are_compared(run, suite, tmp_path):
    first, again = tmp_path / "first.jsonl", tmp_path / "again.jsonl"
    run("eval", suite, "-o", first)
    lines = first.read_text().splitlines(keepends=True)
    again.write_text(lines[0] + lines[1][:40])
    done = run("eval", suite, "-o", again, "--compare", first, "--json")
    report = json.loads(done.stdout)
    assert again.read_text().startswith(lines[0])
    assert report["questions"] == report["comparison"]["questions"] == 3
    assert report["figures"]["answer_said"] == 1
    assert report["comparison"]["flips"] == []


def test_a_built_in_suite_is_found_by_name_and_sampled_by_seed(run):
    reports = [json.loads(run("eval", "marches", "--sample", "3", "--seed", "7", "--json").stdout) for _ in range(2)]
    assert reports[0]["questions"] == 3
    assert reports[0]["kinds"] == reports[1]["kinds"]


def test_the_gate_fails_for_a_changed_suite(run, tmp_path):
    done = run("eval", write_suite(SUITE, tmp_path / "marches"), "--gate")
    assert done.returncode == 1
    assert "gate: the suite has changed" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nowhere"], "No such suite: 'nowhere'"),
        (["marches", "--gate", "--sample", "3"], "leave out --sample"),
        (["small", "--gate"], "no gate for the suite 'small'"),
        (["small", "--researcher", "nobody"], "no such researcher: 'nobody'"),
        (["small", "--html", "no/where.html"], "no/where.html cannot be written"),
    ],
)
def test_bad_input_is_one_line(run, suite, arguments, expected):
    done = run("eval", *arguments)
    assert (done.returncode, expected in done.stderr) == (2, True), done.stderr


def test_results_of_another_suite_are_not_appended_to(run, suite, tmp_path):
    other_suite = write_suite(replace(SUITE, questions=(replace(QUESTIONS[0], id="stranger"),)), tmp_path / "others")
    run("eval", other_suite, "-o", "other.jsonl")
    before = (tmp_path / "other.jsonl").read_text()
    done = run("eval", suite, "-o", "other.jsonl")
    assert (done.returncode, "that are not in small" in done.stderr) == (2, True), done.stderr
    assert (tmp_path / "other.jsonl").read_text() == before
