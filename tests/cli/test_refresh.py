"""`verify --online` and `refresh` as a person runs them."""

import io
import json
import re

from rich.console import Console, Group

from marchwarden.audit.recheck import SourceCheck, SourceStatus, StatementStatus
from marchwarden.cli import formatter
from tests.world.pages import QUESTION
from tests.world.world import World


def test_the_web_of_today_is_held_against_a_run(run, world: World):
    asked = json.loads(run("ask", QUESTION, "--researcher", "web", "--local", "--json", **world.environ()).stdout)
    trace_id = asked["trace_id"]
    world.edit("ferris", "in eleven weeks", "in <b>\x1b[31mtwelve</b> weeks")
    world.remove("counts")
    done = run("verify", "--online", trace_id, "--json", **world.environ())
    told = json.loads(done.stdout)
    assert done.returncode == 1
    assert all(check["proved"] for check in told["checks"])
    standings = {visit["locator"]: visit["standing"] for visit in told["visits"]}
    assert (standings[world.url("ferris")], standings[world.url("counts")]) == ("changed", "gone")
    refreshed = run("refresh", trace_id, **world.environ())
    assert refreshed.returncode == 1
    assert re.search(r"lost its support: \[\d\] lost\n +In 2024 an average of 18,400 vehicles", refreshed.stdout)
    assert "Maud Ferris" not in refreshed.stdout.partition("Statements to check")[2]
    assert max(map(len, refreshed.stdout.splitlines())) <= 80
    assert "\x1b" not in refreshed.stdout


def test_files_are_followed_to_the_edit_and_the_deletion(run, folder):
    question = "Who was Maud Ferris and what does the Alder Bridge carry?"
    asked = json.loads(run("ask", question, "--researcher", "files", "--files", folder, "--local", "--json").stdout)
    trace_id = asked["trace_id"]
    done = run("verify", "--online", trace_id)
    assert (done.returncode, "cited documents: 2 alive" in done.stdout) == (0, True)
    edited = folder / "bridge.md"
    edited.write_text(edited.read_text().replace("two lanes", "four lanes"))
    (folder / "people" / "ferris.txt").unlink()
    told = json.loads(run("refresh", trace_id, "--json").stdout)
    assert {visit["locator"].rpartition("/")[2]: visit["standing"] for visit in told["visits"]} == {
        "bridge.md": "lost",
        "ferris.txt": "gone",
    }
    assert [statement["support"] for statement in told["statements"]] == ["lost", "stands", "lost"]


def test_what_cannot_be_read_as_a_run_is_refused_in_one_line(run):
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


def test_documents_and_statements_are_shown_in_eighty_columns_and_act_on_nothing():
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
    said = [
        StatementStatus("The bridge [bold]opened in 1931. [1][2][4]", (1, 2, 4), (2,), (4,)),
        StatementStatus("Fine. [1]", (1,)),
        StatementStatus("So it is.\x1b [4]", (4,), (), (4,)),
    ]
    output = io.StringIO()
    console = Console(file=output, width=80, color_system=None)
    console.print(Group(formatter.source_checks(visits), formatter.statements(said)))
    assert output.getvalue() == SHOWN
    assert "Every statement is still supported" in shown(formatter.statements(said[1:2]))
    assert shown(formatter.source_checks([])) == "cited documents: none\n"


def shown(rendered: object) -> str:
    output = io.StringIO()
    Console(file=output, width=80, color_system=None).print(rendered)
    return output.getvalue()
