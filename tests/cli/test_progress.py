"""The progress display on a terminal and elsewhere. The console writes into a string."""

import io
import re
from dataclasses import replace

import anyio
import pytest
from rich.console import Console

from marchwarden.cli.progress import ProgressDisplay
from marchwarden.logs.setup import set_up
from marchwarden.protocols import Progress
from tests.cli.in_process import restored_log

STEPS = [
    Progress("t", "plan", "2 researchers can be asked", 0, 0, 20_000, 0),
    Progress("t", "dispatch", "asking web, files", 1, 0, 20_000, 0),
    Progress("t", "search", "searching: main span", 1, 0, 7_000, 0, "web"),
    Progress("t", "read", "reading 12 passages", 1, 300, 7_000, 1, "files"),
    Progress("t", "fetch", "reading 3 of 9 sources found", 1, 900, 7_000, 3, "web"),
]


def render(steps: list[Progress], width: int = 80) -> list[str]:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    display = ProgressDisplay(console)
    for step in steps:
        display.latest[step.researcher] = step
    with console.capture() as captured:
        console.print(display.table())
    return captured.get().splitlines()


def test_a_pi_run_shows_one_row_per_researcher():
    lines = render(STEPS)
    assert [line.split()[0] for line in lines[1:]] == ["web", "files"]
    assert "asking web, files" in lines[0] and "20000 of 20000 tokens left" in lines[0]
    assert "reading 3 of 9 sources found" in lines[1]
    assert lines[1].endswith("6100 of 7000 tokens left 3 sources")
    assert lines[2].endswith("6700 of 7000 tokens left  1 source")


def test_a_single_researcher_is_shown_without_a_name():
    (line,) = render([Progress("t", "search", "searching: main span", 1, 500, 5_000, 2)])
    assert re.sub(r"^\S ", "", line).startswith("searching: main span")


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_lines_fit_the_terminal_for_any_message(width):
    hostile = "\x1b[31m" + "very long and [/red] odd " * 40
    lines = render([*STEPS, Progress("t", "read", hostile, 1, 5, 10, 1, "n" * 60)], width)
    assert len(lines) == 4
    assert all(len(line) <= width for line in lines)
    assert "\x1b" not in "".join(lines)


async def test_without_a_terminal_each_step_is_one_line():
    output = io.StringIO()
    display = ProgressDisplay(Console(file=output, width=80, highlight=False))
    for step in STEPS:
        await display.report(step)
    assert display.trace_id == "t"
    assert output.getvalue().splitlines()[-1] == (
        "web: reading 3 of 9 sources found (6100 of 7000 tokens left, 3 sources)"
    )


def test_steps_that_are_logged_to_stderr_are_not_shown_twice():
    output = io.StringIO()
    with restored_log():
        set_up({"MARCHWARDEN_LOG_LEVEL": "INFO"})
        anyio.run(ProgressDisplay(Console(file=output)).report, STEPS[0])
    assert output.getvalue() == ""


def test_a_queued_run_shows_no_token_counts():
    console = Console(file=io.StringIO(), width=80)
    with console.capture() as captured:
        anyio.run(ProgressDisplay(console).report, Progress("t", "queue", "handed to the fleet: waiting for a worker"))
    assert captured.get() == "handed to the fleet: waiting for a worker\n"
    assert "0 of 0" not in "".join(render([Progress("t", "queue", "handed to the fleet: waiting for a worker")]))


def test_each_warning_is_printed_once_and_is_not_a_step():
    console = Console(file=io.StringIO(), width=40)
    display = ProgressDisplay(console)
    warning = Progress("t", "warning", "the index in /home/you/.marchwarden/index cannot be updated")
    with console.capture() as captured:
        for report in (warning, replace(warning, researcher="files"), replace(warning, message="another problem")):
            anyio.run(display.report, report)
    assert captured.get().splitlines() == [
        f"marchwarden: warning: {warning.message}",
        "marchwarden: warning: another problem",
    ]
    assert display.latest == {}
