import json
from pathlib import Path

import pytest

from marchwarden.storage.store import Store
from tests.cli.in_process import Shell
from tests.reports.samples import SampleCitation, SampleRun, write_run

SPAN = SampleCitation("https://rivers.example/alder", "The span is 212 metres long.", "Spans of the Senn")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    store = Store(tmp_path / "home" / "traces")
    write_run(store, SampleRun("It is 212 metres long. [1]", [SPAN], question="How long is the span?"))
    write_run(store, SampleRun("Nobody knows.", question="Who repainted it?"))
    return Shell(tmp_path)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("span", ["How long is the span?"]),
        ("REPAINTED", ["Who repainted it?"]),
        ("212 metres", ["How long is the span?"]),
        ("rivers.example", ["How long is the span?"]),
        ("senn", ["How long is the span?"]),
        ("it", ["How long is the span?", "Who repainted it?"]),
        ("span repainted", []),
    ],
)
def test_search_matches_question_answer_and_sources(shell: Shell, words: str, found: list[str]):
    listed = json.loads(shell.run("traces", "--search", words, "--json").stdout)
    assert sorted(each["question"] for each in listed) == found


def test_a_search_without_matches_suggests_a_command(shell: Shell):
    done = shell.run("traces", "--search", "zebra")
    assert (done.returncode, "`marchwarden traces` lists every run" in done.stdout) == (0, True)


def test_the_limit_is_mentioned_if_there_are_more_runs(shell: Shell):
    done = shell.run("traces", "--limit", "1")
    assert done.stdout.count("?") == 1
    assert done.stderr == "showing 1 of 2; --limit 2 shows all\n"
