"""`marchwarden ask` with several researchers: web, arXiv, a database and files, in the test world."""

import json
import re
import sqlite3

import pytest

from marchwarden.storage.store import Store

pytestmark = pytest.mark.slow

QUESTION = (
    "How long is the main span of the Alder Bridge, what was the strongest gust measured on its deck in the study, "
    "how many inspections of the Alder Bridge were there, and who repainted it in 2019?"
)


@pytest.fixture
def given(tmp_path) -> list[str]:
    """A folder of notes and a database, as options."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "log.md").write_text("# Log\n\nThe Alder Bridge was repainted in 2019 by the firm of Iven Brask.\n")
    database = tmp_path / "bridges.sqlite"
    with sqlite3.connect(database) as rows:
        rows.execute("create table inspections(id integer primary key, bridge text, year integer)")
        rows.execute("insert into inspections values (1, 'Alder Bridge', 2018), (2, 'Alder Bridge', 2020)")
        rows.execute("insert into inspections values (3, 'Alder Bridge', 2022), (4, 'Dorn Bridge', 2021)")
    rows.close()
    return ["--files", str(notes), "--db", str(database)]


def test_four_researchers_answer_together_and_the_run_is_verified_and_replayed(run, world, given, tmp_path):
    done = run("ask", QUESTION, *given, "--json", **world.environ())
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert {each["researcher"] for each in result["citations"]} == {"files", "database", "web", "arxiv"}
    for fact in ("212 metres", "is 3", "Iven Brask"):
        assert fact in result["answer"]
    # A busy machine may not read the paper in time. Then only its abstract is cited, and the arXiv run says so.
    runs = [Store(tmp_path / "home" / "traces").text(each["trace_id"]) for each in result["dispatches"]]
    assert "41 metres" in result["answer"] or any("only the abstract of" in each for each in runs)
    first = [each["researcher"] for each in result["dispatches"][:4]]
    assert sorted(first) == ["arxiv", "database", "files", "web"]
    assert run("verify", result["trace_id"]).returncode == 0
    rerun = run("replay", result["trace_id"], "--rerun")
    assert rerun.stdout.startswith("identical"), rerun.stdout
    for each in result["dispatches"]:
        assert run("verify", each["trace_id"]).returncode == 0, each


def test_a_question_about_own_files_is_not_sent_to_the_web(run, world, given):
    environ = {name: value for name, value in world.environ().items() if name != "TAVILY_API_KEY"}
    done = run("ask", "Who repainted the Alder Bridge?", *given, "--local", "--json", **environ)
    result = json.loads(done.stdout)
    assert {each["researcher"] for each in result["dispatches"]} == {"files", "database"}
    assert not world.requests


def test_naming_researchers_asks_only_them(run, world, given):
    named = ["--researcher", "web", "--researcher", "files", *given[:2]]
    done = run("ask", "How long is the main span of the Alder Bridge?", *named, "--local", "--json", **world.environ())
    result = json.loads(done.stdout)
    assert {each["researcher"] for each in result["dispatches"]} == {"files", "web"}


def test_a_pi_run_is_resumed_without_repeating_requests(run, world, given, tmp_path):
    done = run("ask", QUESTION, *given, "--local", "--json", "--trace-dir", tmp_path / "kept", **world.environ())
    result = json.loads(done.stdout)
    trace = tmp_path / "kept" / f"{result['trace_id']}.jsonl"
    trace.write_bytes(b"".join(trace.read_bytes().splitlines(keepends=True)[:-3]))
    asked = len(world.requests)
    resumed = run("resume", result["trace_id"], "--json", "--trace-dir", tmp_path / "kept", **world.environ())
    assert json.loads(resumed.stdout)["answer"] == result["answer"]
    assert len(world.requests) == asked


def test_verbose_costs_of_a_pi_run_add_up(run, given):
    done = run("ask", "Who repainted the Alder Bridge?", *given, "--local", "--verbose")
    used = re.search(r"Cost: (\d+) tokens", done.stdout)
    billed = re.search(r"^total +(\d+) tokens", done.stdout, re.MULTILINE)
    assert used
    assert billed
    assert int(used[1]) == int(billed[1]) > 0


def test_registered_researchers_are_listed_with_their_status(run, tmp_path):
    listed = tmp_path / "researchers.toml"
    listed.write_text("[ghost]\npurpose = 'Haunts.'\ncommand = ['no-such-command-anywhere']\n")
    done = run("researchers", MARCHWARDEN_RESEARCHERS=str(listed))
    assert done.returncode == 1
    assert "DOWN ghost" in done.stdout
    assert all(f"ok   {name} (contract v1)" in done.stdout for name in ("files", "database", "web", "arxiv"))
    listed.write_text("[ghost]\n")
    done = run("researchers", MARCHWARDEN_RESEARCHERS=str(listed))
    assert (done.returncode, "either a command or a url" in done.stderr) == (2, True)
