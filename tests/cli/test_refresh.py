"""`marchwarden verify --online` and `marchwarden refresh`."""

import io
import json
import re

import pytest
from rich.console import Console, Group

from marchwarden.audit.recheck import SourceCheck, SourceStatus, StatementStatus
from marchwarden.cli import formatter
from tests.world.pages import QUESTION
from tests.world.world import World

pytestmark = pytest.mark.slow


def test_changed_and_removed_pages_are_reported(run, world: World):
    result = json.loads(run("ask", QUESTION, "--researcher", "web", "--local", "--json", **world.environ()).stdout)
    trace_id = result["trace_id"]
    world.edit("ferris", "in eleven weeks", "in <b>\x1b[31mtwelve</b> weeks")
    world.remove("counts")
    done = run("verify", "--online", trace_id, "--json", **world.environ())
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert all(check["proved"] for check in report["checks"])
    standings = {visit["locator"]: visit["standing"] for visit in report["visits"]}
    assert (standings[world.url("ferris")], standings[world.url("counts")]) == ("changed", "gone")
    refreshed = run("refresh", trace_id, **world.environ())
    assert refreshed.returncode == 1
    assert re.search(r"lost its support: \[\d\] lost\n +In 2024 an average of 18,400 vehicles", refreshed.stdout)
    assert "Maud Ferris" not in refreshed.stdout.partition("Statements to check")[2]
    assert max(map(len, refreshed.stdout.splitlines())) <= 80
    assert "\x1b" not in refreshed.stdout


def test_edited_and_deleted_files_are_reported(run, folder):
    question = "Who was Maud Ferris and what does the Alder Bridge carry?"
    result = json.loads(run("ask", question, "--researcher", "files", "--files", folder, "--local", "--json").stdout)
    trace_id = result["trace_id"]
    done = run("verify", "--online", trace_id)
    assert (done.returncode, "cited documents: 2 alive" in done.stdout) == (0, True)
    edited = folder / "bridge.md"
    edited.write_text(edited.read_text().replace("two lanes", "four lanes"))
    (folder / "people" / "ferris.txt").unlink()
    report = json.loads(run("refresh", trace_id, "--json").stdout)
    assert {visit["locator"].rpartition("/")[2]: visit["standing"] for visit in report["visits"]} == {
        "bridge.md": "lost",
        "ferris.txt": "gone",
    }
    assert [statement["support"] for statement in report["statements"]] == ["lost", "stands", "lost"]


def test_an_unknown_run_is_refused_in_one_line(run):
    for command in (["refresh"], ["verify", "--online"]):
        done = run(*command, "4b6b2a52-6f3c-4f0e-9d0a-0d8a3f0f7a11")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


SHOWN = """\
alive        [1][3] docs/wiki/Architecture.md
             as it was
gone         [2] https://rivers.senn.gov/bridges/a-name-that-goes-on-and-on-so
that-it-does-not-fit
             rivers.senn.gov answered 404 (Not Found)
unknown here [4] shelf [/bold] 3
             only the oracle [red]knows
cited documents: 1 alive, 1 gone, 1 unknown here

Statements to check
  - lost part of its support: [2] lost, [4] could not be checked
      The bridge [bold]opened in 1931. [1][2][4]
  - not checked: [4] could not be checked
      So it is. [4]
"""


def test_documents_and_statements_fit_80_columns_without_control_characters():
    visits = [
        SourceCheck("docs/wiki/Architecture.md", (1, 3), SourceStatus.ALIVE, "as it was"),
        SourceCheck(
            "https://rivers.senn.gov/bridges/a-name-that-goes-on-and-on-so that-it-does-not-fit",
            (2,),
            SourceStatus.GONE,
            "rivers.senn.gov answered 404 (Not Found)",
            (2,),
        ),
        SourceCheck("shelf [/bold] 3\x1b[2J"[:15], (4,), SourceStatus.UNKNOWN, "only the oracle [red]knows\u202e\x07"),
    ]
    statements = [
        StatementStatus("The bridge [bold]opened in 1931. [1][2][4]", (1, 2, 4), (2,), (4,)),
        StatementStatus("Fine. [1]", (1,)),
        StatementStatus("So it is.\x1b [4]", (4,), (), (4,)),
    ]
    output = io.StringIO()
    console = Console(file=output, width=80, color_system=None)
    console.print(Group(formatter.source_checks(visits), formatter.statements(statements)))
    assert output.getvalue() == SHOWN
    assert "Every statement is still supported" in render(formatter.statements(statements[1:2]))
    assert render(formatter.source_checks([])) == "cited documents: none\n"


def render(rendered: object) -> str:
    output = io.StringIO()
    Console(file=output, width=80, color_system=None).print(rendered)
    return output.getvalue()
