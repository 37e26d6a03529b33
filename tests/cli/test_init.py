import re
from pathlib import Path

import pytest

from marchwarden.audit.prices import Prices
from marchwarden.cli.commands.init import dotenv
from marchwarden.cli.environment import VARIABLES
from marchwarden.orchestrator.external import ExternalRegistry
from marchwarden.settings import parse_dotenv
from tests.cli.in_process import Shell

GUIDE = Path(__file__).parents[2] / "docs" / "wiki" / "UserGuide.md"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def uncommented(text: str) -> str:
    return re.sub(r"^# (?=\w+=|\[|\w+ = )", "", text, flags=re.MULTILINE)


def test_without_arguments_five_lines_show_how_to_start(shell: Shell):
    done = shell.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 5
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_init_creates_three_commented_files(shell: Shell):
    done = shell.run("init")
    assert done.returncode == 0
    files = [shell.folder / ".env", shell.home / "researchers.toml", shell.home / "prices.toml"]
    for path in files:
        assert all(not line or line.startswith("#") for line in path.read_text().splitlines())
        assert path.stat().st_mode & 0o077 == 0
        assert f"created {path.name if path.name == '.env' else path}" in done.stdout
    assert shell.run("doctor", "--offline").returncode == 0


def test_existing_files_are_not_changed(shell: Shell):
    (shell.folder / ".env").write_text("TAVILY_API_KEY=mine\n")
    assert ".env already exists; unchanged" in shell.run("init").stdout
    assert (shell.folder / ".env").read_text() == "TAVILY_API_KEY=mine\n"
    assert shell.run("init").stdout.count("already exists; unchanged") == 3


def test_an_unwritable_folder_is_reported_in_one_line(shell: Shell):
    done = shell.run("init", MARCHWARDEN_RESEARCHERS="/dev/null/researchers.toml")
    assert (done.returncode, "cannot be written" in done.stderr) == (2, True)


def test_uncommented_files_are_valid(shell: Shell):
    shell.run("init")
    researchers = shell.home / "researchers.toml"
    researchers.write_text(uncommented(researchers.read_text()))
    assert [*ExternalRegistry.load(researchers, {}).entries] == ["library", "colleague"]
    prices = shell.home / "prices.toml"
    before = Prices.load(prices).table
    prices.write_text(uncommented(prices.read_text()))
    assert Prices.load(prices).table == before
    pairs = parse_dotenv(uncommented(dotenv()))
    assert pairs == {each.name: each.example for each in VARIABLES}


def test_every_variable_of_the_guide_is_in_the_template():
    guide = GUIDE.read_text(encoding="utf-8")
    table = guide[guide.index("\n## Environment variables\n") :]
    named = set(re.findall(r"`([A-Z][A-Z_]+)(?:=\w+)?`", table))
    assert named
    assert named <= {each.name for each in VARIABLES}
