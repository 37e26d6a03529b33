"""Run every example of every `--help`, in a folder that has the files they mention."""

import json
import re
import shlex
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from marchwarden.cli.help import SECTIONS
from marchwarden.cli.main import marchwarden
from marchwarden.storage.store import Store
from tests.cli.in_process import Shell
from tests.world.folder import a_folder

pytestmark = pytest.mark.slow

WIKI = Path(__file__).parents[2] / "docs" / "wiki"
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\bTRACE_ID\b")
BLOCK = re.compile(r"\x08\n(.*?)(?:\n\s*\n|\Z)", re.DOTALL)
NOT_RUN = {
    r"marchwarden serve ": "serves until it is stopped: tests/mcp",
    r"marchwarden ui\b": "serves until it is stopped: tests/ui",
    r"marchwarden ask .*--researcher web": "uses the web: tests/cli/test_ask_web.py",
    r"marchwarden arxiv (?:add|info|remove) ": "uses arXiv or a paper in the library: tests/cli/test_arxiv.py",
    r"marchwarden (?:worker|runs) ": "needs a Temporal server: tests/temporal",
    r"marchwarden eval ": "takes a minute: tests/cli/test_eval.py",
}
UNREACHABLE = {"MARCHWARDEN_WIKIPEDIA_URL": "http://127.0.0.1:9", "MARCHWARDEN_ARXIV_URL": "http://127.0.0.1:9/api"}


def commands(group: click.Group = marchwarden, name: str = "marchwarden") -> Iterator[tuple[str, click.Command]]:
    yield name, group
    context = click.Context(group)
    for each in filter(None, (group.get_command(context, name) for name in group.list_commands(context))):
        path = f"{name} {each.name}"
        if isinstance(each, click.Group):
            yield from commands(each, path)
        else:
            yield path, each


COMMANDS = dict(commands())


def examples_of(command: click.Command) -> list[str]:
    blocks = BLOCK.findall(command.help or "")
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("marchwarden ")]


EXAMPLES = list(dict.fromkeys(line for command in COMMANDS.values() for line in examples_of(command)))
RUN = [line for line in EXAMPLES if not any(re.match(pattern, line) for pattern in NOT_RUN)]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    folder = tmp_path_factory.mktemp("examples")
    shutil.copytree(WIKI, folder / "docs" / "wiki")
    a_folder(folder / "reports")
    with sqlite3.connect(folder / "shop.sqlite") as shop:
        shop.executescript(
            "create table customers(id integer primary key, name text, country text);"
            "insert into customers values (1, 'Ana', 'Brazil'), (2, 'Rui', 'Brazil'), (3, 'Ida', 'Norway')"
        )
    shop.close()
    (folder / "questions.jsonl").write_text(json.dumps({"id": 1, "question": "What is a mind?"}) + "\n")
    shell = Shell(folder)
    assert shell.run("ask", "What does a trace prove?", "--files", "docs/wiki", "--local").returncode == 0
    assert shell.run("eval", "marches", "--sample", "5", "-o", "marches.jsonl").returncode == 0
    return shell


@pytest.mark.parametrize("example", RUN)
def test_an_example_succeeds(shell: Shell, example: str):
    latest = Store(shell.home / "traces").traces()[-1]
    _, *arguments = shlex.split(UUID.sub(latest, example))
    done = shell.run(*arguments, *(["--local"] if arguments[0] == "ask" else []), **UNREACHABLE)
    assert done.returncode == 0, done.stderr
    assert done.stdout or (shell.folder / arguments[-1]).exists()


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_an_example(path: str):
    assert any(line.startswith(path) for line in examples_of(COMMANDS[path]))


@pytest.mark.parametrize("pattern", NOT_RUN)
def test_every_skipped_example_still_exists(pattern: str):
    if pattern != r"marchwarden ui\b" or "marchwarden ui" in COMMANDS:
        assert any(re.match(pattern, line) for line in EXAMPLES)


@pytest.mark.parametrize("path", COMMANDS)
def test_every_help_fits_80_columns_and_explains_its_options(path: str, tmp_path: Path):
    output = Shell(tmp_path).run(*path.split()[1:], "--help").stdout
    assert max(map(len, output.splitlines())) <= 80
    shown = COMMANDS[path].get_params(click.Context(COMMANDS[path]))
    assert all(option.help for option in shown if isinstance(option, click.Option))


@pytest.mark.parametrize(
    "path",
    [
        "ask",
        "resume",
        "verify",
        "refresh",
        "replay",
        "traces",
        "costs",
        "researchers",
        "arxiv list",
        "arxiv info",
        "doctor",
        "gc",
        "eval",
    ],
)
def test_commands_for_scripts_have_a_json_option(path: str):
    options = [name for option in COMMANDS[f"marchwarden {path}"].params for name in option.opts]
    assert "--json" in options


def test_help_lists_the_exit_codes(shell: Shell):
    output = shell.run("--help").stdout
    assert all(code in output for code in ("0 answered", "1 no supporting evidence", "2 bad input", "130 interrupted"))


def test_every_command_is_in_a_section_of_the_help():
    listed = {name for section in SECTIONS.values() for name in section}
    assert set(marchwarden.commands) - listed == set()
