"""`marchwarden report`. The content of reports is tested in tests/reports."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from marchwarden.cli.commands.report import FORMATS, report
from marchwarden.errors import InvalidInput
from marchwarden.settings import Settings
from marchwarden.storage.store import Store
from tests.reports.samples import SampleCitation, SampleRun, write_run

SPAN = SampleCitation("https://example.org/a", "The span is 212 metres long.", "Spans")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home" / "traces")


def run_report(store: Store, *arguments: str | Path) -> Result:
    settings = Settings.from_environ({"MARCHWARDEN_HOME": str(store.folder.parent)})
    return CliRunner().invoke(report, [str(each) for each in arguments], obj=settings, standalone_mode=False)


BEGINNINGS = {"html": "<!doctype html>", "md": "# How long", "json": "{", "bibtex": "@misc{", "csl-json": "["}


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_can_be_piped(store: Store, form: str):
    done = run_report(store, write_run(store, SampleRun("One. [1]", [SPAN])), "--format", form)
    assert done.return_value == 0
    assert done.stdout.startswith(BEGINNINGS[form])
    assert done.stdout.endswith("\n")


NAMES = {"r.html": "<!doctype", "r.md": "# ", "r.bib": "@misc", "r.json": "{", "r.txt": "<!doctype", "R.HTM": "<!"}


@pytest.mark.parametrize("name", NAMES)
def test_the_file_name_determines_the_format(store: Store, tmp_path: Path, name: str):
    done = run_report(store, write_run(store, SampleRun("One. [1]", [SPAN])), "-o", tmp_path / name)
    assert (done.return_value, done.stdout) == (0, "")
    assert done.stderr.endswith("verified, 4 checks passed\n")
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(NAMES[name])


def test_json_contains_excerpts_in_context_and_the_verification(store: Store):
    trace_id = write_run(store, SampleRun("One. [1]", [SPAN]))
    exported = json.loads(run_report(store, trace_id, "--format", "json").stdout)
    assert exported["result"]["trace_id"] == trace_id
    assert exported["verification"]["verified"] is True
    assert exported["sources"][0]["excerpts"][0]["in_place"]["excerpt"] == SPAN.excerpt
    assert [step["action"] for step in exported["timelines"][0]["steps"]][:2] == ["plan", "search"]


def test_a_report_of_an_unverified_run_names_the_failed_checks(store: Store, tmp_path: Path):
    trace_id = write_run(store, SampleRun("One. [1]", [SPAN]))
    store.archive.path(SPAN.document.content_hash).unlink()
    done = run_report(store, trace_id, "-o", tmp_path / "r.html")
    assert done.return_value == 1
    assert "checks failed" in done.stderr
    assert "Not verified" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_bad_input_is_one_line(store: Store, tmp_path: Path):
    trace_id = write_run(store, SampleRun("One. [1]", [SPAN]))
    for arguments in (("../../etc/passwd",), (trace_id, "-o", tmp_path / "no" / "such" / "r.html")):
        done = run_report(store, *arguments)
        assert isinstance(done.exception, InvalidInput)
        assert "\n" not in str(done.exception)


def test_the_command_exports_a_run(run, folder, tmp_path):
    answered = run("ask", "When was the Alder Bridge opened?", "--files", folder, "--local", "--json")
    trace_id = json.loads(answered.stdout)["trace_id"]
    done = run("report", trace_id, "-o", tmp_path / "report.html")
    assert done.returncode == 0, done.stderr
    assert trace_id in (tmp_path / "report.html").read_text(encoding="utf-8")
