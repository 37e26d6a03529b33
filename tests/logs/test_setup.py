"""Log set-up from environment variables, redaction, and the lines written."""

import json
import logging
import multiprocessing
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote, quote_plus

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.cli.environment import KEYS
from marchwarden.errors import InvalidInput
from marchwarden.logs import log_event, timed, trace_context
from marchwarden.logs.setup import HIDDEN, FileHandler, Secrets, logs_to_stderr, set_up
from tests.cli.in_process import restored_log
from tests.investigating import QUESTION, an_investigator

pytestmark = pytest.mark.slow

CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


@pytest.fixture
def log(tmp_path):
    with restored_log():
        yield tmp_path / "logs" / "marchwarden.log"


def lines(path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def set_up_json(path, level: str = "INFO", **more: str) -> None:
    named = {"MARCHWARDEN_LOG_LEVEL": level, "MARCHWARDEN_LOG_FORMAT": "json", "MARCHWARDEN_LOG_FILE": str(path)}
    set_up({**named, **more})


def test_run_logs_start_steps_and_end_with_its_trace_id(log, tmp_path):
    set_up_json(log)
    result = anyio.run(an_investigator(tmp_path).research, QUESTION)
    logged = lines(log)
    assert {line["trace_id"] for line in logged} == {result.trace_id}
    messages = [str(line["message"]) for line in logged]
    assert (messages[0], messages[-1]) == ("run begins", "run ends")
    assert {"plan", "search", "fetch", "read", "conclude"} <= set(messages)
    assert all(float(str(line["seconds"])) >= 0 for line in logged[1:])
    assert all(int(str(line["tokens"])) >= 0 for line in logged if line["message"] in {"read", "run ends"})
    assert logged[0]["question"] == QUESTION


def test_concurrent_runs_keep_their_trace_ids(log, tmp_path):
    set_up_json(log)
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
def test_keys_are_redacted_in_every_format(log, name, form):
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
def test_logged_text_cannot_forge_lines_or_control_the_terminal(log, form):
    set_up({"MARCHWARDEN_LOG_LEVEL": "INFO", "MARCHWARDEN_LOG_FORMAT": form, "MARCHWARDEN_LOG_FILE": str(log)})
    hostile = "a\n12:00:00 ERROR forged\r\x1b[31m\x9b\u202eno\U000e0041\u2028b"
    log_event(hostile, locator=hostile)
    try:
        raise ValueError(hostile)
    except ValueError:
        logging.getLogger("marchwarden").exception("failed")
    written = log.read_text(encoding="utf-8")
    assert not CONTROL.search(written)
    assert not [line for line in written.split("\n") if line.startswith("12:00:00 ERROR forged")]
    if form == "json":
        assert len(lines(log)) == 2


def test_failed_step_is_logged_as_warning_with_the_reason(log):
    set_up_json(log, "WARNING")

    async def fail() -> None:
        raise InvalidInput("no such thing")

    async def main() -> None:
        await timed("fetch", fail, locator="here")

    with pytest.raises(InvalidInput), trace_context("t-1"):
        anyio.run(main)
    (line,) = lines(log)
    assert (line["level"], line["failed"], line["locator"]) == ("WARNING", "InvalidInput: no such thing", "here")


def test_cancelled_step_is_not_a_warning(log):
    set_up_json(log)

    async def main() -> None:
        with anyio.move_on_after(0):
            await timed("fetch", anyio.sleep_forever)

    anyio.run(main)
    (line,) = lines(log)
    assert (line["level"], line["failed"]) == ("INFO", "cancelled")


LIBRARY_PROGRAM = """
import logging
from pathlib import Path
import anyio
from marchwarden import ask
from marchwarden.logs import log_event
from marchwarden.researchers.files import FilesResearcher
ask(FilesResearcher(*[str(path) for path in Path().glob("*.md")], trace_dir="t"), "Who opened it?", depth="shallow")
log_event("a failed step", logging.WARNING)
logging.getLogger("marchwarden.mcp").error("it broke")
root, ours = logging.getLogger(), logging.getLogger("marchwarden")
print(root.handlers, root.level, ours.level, [type(each).__name__ for each in ours.handlers])
"""


def test_library_logs_nothing_and_leaves_logging_unchanged_by_default(tmp_path):
    (tmp_path / "a.md").write_text("Maud Ferris opened it in 1931.")
    command = [sys.executable, "-c", LIBRARY_PROGRAM]
    completed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert (completed.returncode, completed.stderr) == (0, "")
    assert completed.stdout == "[] 30 0 ['NullHandler']\n"


def test_only_errors_are_logged_without_settings(capsys):
    with restored_log():
        set_up({})
        assert not logs_to_stderr()
        log_event("a step")
        log_event("a failed step", logging.WARNING)
        logging.getLogger("another.library").warning("chatter")
        assert capsys.readouterr().err == ""
        logging.getLogger("marchwarden.mcp").error("it broke")
        assert "ERROR   marchwarden.mcp it broke" in capsys.readouterr().err


def test_off_is_silent_and_set_up_replaces_earlier_handlers(capsys):
    with restored_log():
        set_up({"MARCHWARDEN_LOG_LEVEL": "info"})
        assert logs_to_stderr(logging.INFO)
        log_event("once", note="two words")
        set_up({"MARCHWARDEN_LOG_LEVEL": "INFO"})
        log_event("twice")
        set_up({"MARCHWARDEN_LOG_LEVEL": "OFF"})
        logging.getLogger("marchwarden").critical("never")
    logged = capsys.readouterr().err
    assert (logged.count("once"), logged.count("twice"), logged.count("never")) == (1, 1, 0)
    assert 'note="two words"' in logged


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("MARCHWARDEN_LOG_LEVEL", "LOUD", "DEBUG, INFO, WARNING, ERROR, OFF"),
        ("MARCHWARDEN_LOG_FORMAT", "xml", "console, json"),
        ("MARCHWARDEN_LOG_FILE", "/dev/null/x.log", "choose a file in a writable folder"),
    ],
)
def test_invalid_setting_is_rejected_with_the_valid_values(name, value, expected):
    with restored_log(), pytest.raises(InvalidInput, match=expected):
        set_up({name: value})


def test_full_file_is_rotated_and_old_files_are_limited(tmp_path):
    path = tmp_path / "small.log"
    handler = FileHandler(path, max_bytes=200)
    handler.setFormatter(logging.Formatter("%(message)s"))
    for number in range(60):
        handler.emit(logging.makeLogRecord({"msg": f"line {number:02} {'x' * 20}"}))
    names = sorted(each.name for each in tmp_path.glob("small.log*") if each.suffix != ".lock")
    assert names == ["small.log", "small.log.1", "small.log.2", "small.log.3"]
    assert all(each.stat().st_size <= 200 for each in tmp_path.glob("small.log*"))
    assert path.read_text().splitlines()[-1].startswith("line 59")


def write_lines(path: str, writer: int) -> None:
    handler = FileHandler(Path(path), max_bytes=4000)
    handler.setFormatter(logging.Formatter("%(message)s"))
    for number in range(50):
        handler.emit(logging.makeLogRecord({"msg": f"{writer} {number:03} {'x' * 40}"}))


def test_processes_can_share_a_log_file(tmp_path):
    path = tmp_path / "shared.log"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_lines, args=(str(path), number)) for number in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    found = [line for each in tmp_path.glob("shared.log*") for line in each.read_text().splitlines()]
    assert sorted(found) == sorted(f"{writer} {number:03} {'x' * 40}" for writer in range(3) for number in range(50))


def test_unwritable_file_loses_the_line_without_an_error(tmp_path):
    path = tmp_path / "missing" / "x.log"
    handler = FileHandler(path)
    handler.setFormatter(logging.Formatter("%(message)s"))
    handler.emit(logging.makeLogRecord({"msg": "lost"}))
    assert not path.exists()


SECRET_NAMES = [
    *(key.name for key in KEYS),
    "MY_TOKEN",
    "LIBRARY_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "DB_PASSWORD",
    "npm_auth",
]
SECRET = 's3"cr/et \\+%é&'


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_secret_variables_are_redacted_in_every_spelling(name):
    secrets = Secrets({name: SECRET})
    for written in (SECRET, quote(SECRET, safe=""), quote(SECRET), quote_plus(SECRET), json.dumps(SECRET)[1:-1]):
        redacted = secrets.redact(f"GET /?q=1&k={written}&x=2")
        assert written not in redacted
        assert redacted == f"GET /?q=1&k={HIDDEN}&x=2"


SECRET_VALUES = st.text(st.characters(codec="utf-8"), min_size=6).map(str.strip).filter(lambda value: len(value) >= 6)


@given(st.dictionaries(st.sampled_from(SECRET_NAMES), SECRET_VALUES, min_size=1), st.text())
def test_no_secret_survives_redaction(environ, around):
    redacted = Secrets(environ).redact(around + around.join(environ.values()) + around)
    for value in environ.values():
        # A secret may share characters with the placeholder.
        assert value not in redacted.replace(HIDDEN, "")


def test_known_secret_variables_are_redacted_however_short():
    assert Secrets({"PGPASSWORD": "x"}).redact("as x") == f"as {HIDDEN}"


def test_short_values_of_other_variables_are_not_redacted():
    assert Secrets({"KEYBOARD": "us", "TOKENS": "20000", "PGPASSWORD": " "}).redact("us 20000") == "us 20000"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("postgresql://reader:hunter2@db/shop", "hunter2"),
        ("Authorization: Bearer abc.def-ghi", "abc.def-ghi"),
        ("[(b'authorization', b'Bearer abcdefgh')]", "abcdefgh"),
        ("x-api-key: abcdefgh", "abcdefgh"),
        ("https://host/?api_key=abcdefgh&x=1", "abcdefgh"),
        ("key sk-ant-api03-abcdefghijkl ends", "abcdefghijkl"),
        ("tvly-dev-abcdefghijkl", "abcdefghijkl"),
    ],
)
def test_text_that_looks_like_a_key_is_redacted(text, secret):
    assert secret not in Secrets({}).redact(text)


def test_password_from_a_url_is_redacted_elsewhere():
    secrets = Secrets({"MARCHWARDEN_DB": "postgresql://reader:hunter2@db/shop"})
    assert secrets.redact("role reader, password hunter2") == f"role reader, password {HIDDEN}"


@pytest.mark.parametrize(("environ", "is_shown"), [({}, False), ({"MARCHWARDEN_LOG_LEVEL": "WARNING"}, True)])
def test_errors_and_warnings_of_libraries_appear_only_if_logging_is_set_up(environ: dict[str, str], is_shown: bool):
    """They become gaps and errors of ours. Their stack traces would only confuse a user."""
    program = (
        "import logging, warnings; from marchwarden.logs.setup import set_up\n"
        f"set_up({environ!r}); logging.getLogger('a.library').error('could not parse'); warnings.warn('odd reason')"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stderr
    assert ("could not parse" in shown, "odd reason" in shown) == (is_shown, is_shown)
