import json
from dataclasses import replace

import pytest

from marchwarden.contract import ConfidenceFactors
from marchwarden.evidence.confidence import RUBRIC_FILE, Rubric
from tests.cli.in_process import Shell
from tests.evaluation.results import QUESTIONS, SUITE, write_suite


@pytest.fixture
def shell(tmp_path):
    """A folder with a suite and its results."""
    shell = Shell(tmp_path)
    write_suite(SUITE, tmp_path / "small")
    assert shell.run("eval", "small", "-o", "results.jsonl").returncode == 0
    return shell


def test_a_new_rubric_is_printed_and_not_saved(shell):
    done = shell.run("calibrate", "results.jsonl", "--suite", "small", "--version", "mine")
    assert done.returncode == 0, done.stderr
    assert Rubric.parse(done.stdout, "stdout").version == "mine"
    assert done.stderr.count("calibration error") == 2
    assert not (shell.home / "traces" / RUBRIC_FILE).exists()


def test_a_saved_rubric_scores_later_runs_and_does_not_change_earlier_ones(shell):
    before = json.loads((shell.folder / "results.jsonl").read_text().splitlines()[0])["result"]
    done = shell.run("calibrate", "results.jsonl", "--suite", "small", "--keep")
    saved = Rubric.load(shell.home / "traces")
    assert saved.to_toml() == done.stdout
    shell.run("eval", "small", "-o", "later.jsonl")
    for line in (shell.folder / "later.jsonl").read_text().splitlines():
        result = json.loads(line)["result"]
        assert result["confidence"] == saved.score(ConfidenceFactors.model_validate(result["confidence_factors"]))
    assert shell.run("replay", before["trace_id"], "--rerun").returncode == 0


def test_several_files_can_have_several_suites(shell):
    done = shell.run("calibrate", "results.jsonl", "results.jsonl", "--suite", "small", "--suite", "small")
    assert "fitted to 6 results" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["results.jsonl"], "--suite"),
        (["nothing.jsonl", "--suite", "small"], "nothing.jsonl"),
        (["results.jsonl", "--suite", "others"], "do they belong to another suite?"),
        (["results.jsonl", "--suite", "small", "--suite", "small"], "need one --suite or one per file"),
        (["empty.jsonl", "--suite", "small"], "no results that the suite small can judge"),
    ],
)
def test_bad_input_is_one_line(shell, arguments, expected):
    write_suite(replace(SUITE, questions=(replace(QUESTIONS[0], id="stranger"),)), shell.folder / "others")
    (shell.folder / "empty.jsonl").write_text("")
    done = shell.run("calibrate", *arguments)
    assert (done.returncode, expected in done.stderr) == (2, True), done.stderr
