"""The log as the environment sets it up, looked at where it is written."""

import json
import logging
import multiprocessing
import re
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from marchwarden.cli.environment import KEYS
from marchwarden.errors import InvalidInput
from marchwarden.logs import log_event, timed, trace_context
from marchwarden.logs.setup import FileLines, set_up, speaks_on_stderr
from tests.cli.in_process import restored_log
from tests.investigating import QUESTION, an_investigator

CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


@pytest.fixture
def log(tmp_path):
    with restored_log():
        yield tmp_path / "logs" / "marchwarden.log"


def lines(path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def in_json(path, level: str = "INFO", **more: str) -> None:
    named = {"MARCHWARDEN_LOG_LEVEL": level, "MARCHWARDEN_LOG_FORMAT": "json", "MARCHWARDEN_LOG_FILE": str(path)}
    set_up({**named, **more})


def test_a_run_tells_its_beginning_its_steps_and_its_end_each_with_its_trace_id(log, tmp_path):
    in_json(log)
    result = anyio.run(an_investigator(tmp_path).research, QUESTION)
    told = lines(log)
    assert {line["trace_id"] for line in told} == {result.trace_id}
    messages = [str(line["message"]) for line in told]
    assert (messages[0], messages[-1]) == ("run begins", "run ends")
    assert {"plan", "search", "fetch", "read", "conclude"} <= set(messages)
    assert all(float(str(line["seconds"])) >= 0 for line in told[1:])
    assert all(int(str(line["tokens"])) >= 0 for line in told if line["message"] in {"read", "run ends"})
    assert told[0]["question"] == QUESTION


def test_runs_side_by_side_do_not_mix_their_lines(log, tmp_path):
    in_json(log)
    results = []

    async def both() -> None:
        async with anyio.create_task_group() as group:
            for name in ("one", "other"):
                group.start_soon(research, name)

    async def research(name: str) -> None:
        results.append(await an_investigator(tmp_path / name).research(QUESTION))

    anyio.run(both)
    for result in results:
        mine = [line["message"] for line in lines(log) if line["trace_id"] == result.trace_id]
        assert (mine[0], mine[-1]) == ("run begins", "run ends")


@pytest.mark.parametrize("name", [key.name for key in KEYS])
@pytest.mark.parametrize("form", ["json", "console"])
def test_no_key_ever_reaches_the_log(log, name, form):
    secret = "k3y/with+odd=characters"
    named = {"MARCHWARDEN_LOG_LEVEL": "DEBUG", "MARCHWARDEN_LOG_FORMAT": form, "MARCHWARDEN_LOG_FILE": str(log)}
    set_up({**named, name: secret})
    log_event(f"asked with {secret}", where=f"https://host/?k={secret}", split=f"{secret[:4]}\x00{secret[4:]}")
    logging.getLogger("another.library").warning("header %r", {"authorization": f"Bearer {secret}"})
    try:
        raise ValueError(f"refused: {secret}")
    except ValueError:
        logging.getLogger("marchwarden.mcp").exception("it failed with %s", secret)
    written = log.read_text()
    assert written.count("[hidden]") >= 5
    assert "odd" not in written


@pytest.mark.parametrize("form", ["json", "console"])
def test_nothing_in_a_line_can_forge_another_or_steer_a_terminal(log, form):
    set_up({"MARCHWARDEN_LOG_LEVEL": "INFO", "MARCHWARDEN_LOG_FORMAT": form, "MARCHWARDEN_LOG_FILE": str(log)})
    evil = "a\n12:00:00 ERROR forged\r\x1b[31m\x9b\u202eno\U000e0041\u2028b"
    log_event(evil, locator=evil)
    try:
        raise ValueError(evil)
    except ValueError:
        logging.getLogger("marchwarden").exception("failed")
    written = log.read_text(encoding="utf-8")
    assert not CONTROL.search(written)
    assert not [line for line in written.split("\n") if line.startswith("12:00:00 ERROR forged")]
    if form == "json":
        assert len(lines(log)) == 2


def test_a_failed_step_is_a_warning_with_its_reason(log):
    in_json(log, "WARNING")

    async def fail() -> None:
        raise InvalidInput("no such thing")

    async def main() -> None:
        await timed("fetch", fail, locator="here")

    with pytest.raises(InvalidInput), trace_context("t-1"):
        anyio.run(main)
    (line,) = lines(log)
    assert (line["level"], line["failed"], line["locator"]) == ("WARNING", "InvalidInput: no such thing", "here")


def test_a_step_that_was_called_off_is_no_warning(log):
    in_json(log)

    async def main() -> None:
        with anyio.move_on_after(0):
            await timed("fetch", anyio.sleep_forever)

    anyio.run(main)
    (line,) = lines(log)
    assert (line["level"], line["failed"]) == ("INFO", "called off")


IN_A_PROGRAM = """
import logging
from pathlib import Path
import anyio
from marchwarden import ask
from marchwarden.logs import log_event
from marchwarden.researchers.files import FilesResearcher
ask(FilesResearcher(*[str(path) for path in Path().glob("*.md")], trace_dir="kept"), "Who opened it?", depth="shallow")
log_event("a failed step", logging.WARNING)
logging.getLogger("marchwarden.mcp").error("it broke")
root, ours = logging.getLogger(), logging.getLogger("marchwarden")
print(root.handlers, root.level, ours.level, [type(each).__name__ for each in ours.handlers])
"""


def test_a_program_that_sets_up_no_log_hears_nothing_and_finds_logging_as_it_left_it(tmp_path):
    (tmp_path / "a.md").write_text("Maud Ferris opened it in 1931.")
    command = [sys.executable, "-c", IN_A_PROGRAM]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[] 30 0 ['NullHandler']\n"


def test_without_a_word_in_the_environment_only_errors_are_told(capsys):
    with restored_log():
        set_up({})
        assert not speaks_on_stderr()
        log_event("a step")
        log_event("a failed step", logging.WARNING)
        logging.getLogger("another.library").warning("chatter")
        assert capsys.readouterr().err == ""
        logging.getLogger("marchwarden.mcp").error("it broke")
        assert "ERROR   marchwarden.mcp it broke" in capsys.readouterr().err


def test_off_is_silent_and_a_second_setting_up_replaces_the_first(capsys):
    with restored_log():
        set_up({"MARCHWARDEN_LOG_LEVEL": "info"})
        assert speaks_on_stderr(logging.INFO)
        log_event("once", much="two words")
        set_up({"MARCHWARDEN_LOG_LEVEL": "INFO"})
        log_event("twice")
        set_up({"MARCHWARDEN_LOG_LEVEL": "OFF"})
        logging.getLogger("marchwarden").critical("never")
    told = capsys.readouterr().err
    assert (told.count("once"), told.count("twice"), told.count("never")) == (1, 1, 0)
    assert 'much="two words"' in told


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("MARCHWARDEN_LOG_LEVEL", "LOUD", "DEBUG, INFO, WARNING, ERROR, OFF"),
        ("MARCHWARDEN_LOG_FORMAT", "xml", "console, json"),
        ("MARCHWARDEN_LOG_FILE", "/dev/null/x.log", "name a file in a folder of yours"),
    ],
)
def test_a_mistake_in_the_environment_is_told_with_what_is_right(name, value, said):
    with restored_log(), pytest.raises(InvalidInput, match=said):
        set_up({name: value})


def test_a_full_file_is_put_aside_and_only_so_many_are_kept(tmp_path):
    path = tmp_path / "small.log"
    handler = FileLines(path, largest=200)
    handler.setFormatter(logging.Formatter("%(message)s"))
    for number in range(60):
        handler.emit(logging.makeLogRecord({"msg": f"line {number:02} {'x' * 20}"}))
    kept = sorted(each.name for each in tmp_path.glob("small.log*") if each.suffix != ".lock")
    assert kept == ["small.log", "small.log.1", "small.log.2", "small.log.3"]
    assert all(each.stat().st_size <= 200 for each in tmp_path.glob("small.log*"))
    assert path.read_text().splitlines()[-1].startswith("line 59")


def write_many(path: str, who: int) -> None:
    handler = FileLines(Path(path), largest=4000)
    handler.setFormatter(logging.Formatter("%(message)s"))
    for number in range(50):
        handler.emit(logging.makeLogRecord({"msg": f"{who} {number:03} {'x' * 40}"}))


def test_processes_that_share_a_file_lose_no_line_and_tear_none(tmp_path):
    path = tmp_path / "shared.log"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_many, args=(str(path), who)) for who in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    found = [line for each in tmp_path.glob("shared.log*") for line in each.read_text().splitlines()]
    assert sorted(found) == sorted(f"{who} {number:03} {'x' * 40}" for who in range(3) for number in range(50))


def test_a_file_that_takes_no_more_costs_the_line_and_not_the_run(tmp_path):
    path = tmp_path / "gone" / "x.log"
    handler = FileLines(path)
    handler.setFormatter(logging.Formatter("%(message)s"))
    handler.emit(logging.makeLogRecord({"msg": "lost"}))
    assert not path.exists()
