import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from marchwarden.cli.commands.arxiv import arxiv
from marchwarden.errors import InvalidInput
from marchwarden.settings import Settings
from tests.world.world import World


class ArxivCommands:
    """The `arxiv` commands with their own home folder."""

    def __init__(self, world: World, home: Path) -> None:
        self.settings = Settings.from_environ({**world.environ(), "MARCHWARDEN_HOME": str(home)})

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(arxiv, list(arguments), obj=self.settings, standalone_mode=False)


@pytest.fixture
def commands(world: World, tmp_path: Path) -> ArxivCommands:
    return ArxivCommands(world, tmp_path)


def test_a_paper_is_added_listed_shown_and_removed(commands: ArxivCommands) -> None:
    added = commands.run("add", "arXiv:2104.12255", "https://arxiv.org/abs/2011.04242v1")
    assert added.return_value == 0
    assert (
        "added 2104.12255v2  Wind loads on the deck of the Alder Bridge (Okoye and Brandt, 2024): HTML" in added.output
    )
    listed = commands.run("list")
    assert [line.split()[0] for line in listed.output.splitlines()] == ["2011.04242v1", "2104.12255v2"]
    shown = commands.run("info", "2011.04242").output
    assert "doi: 10.5555/senn.2020.41" in shown and "read_from: application/pdf" in shown
    assert commands.run("remove", "2011.04242").output == "removed 2011.04242\n"
    (left,) = json.loads(commands.run("list", "--json").output)
    assert (left["id"], left["authors"]) == ("2104.12255v2", ["Jana Okoye", "Lena Brandt"])
    assert json.loads(commands.run("info", "2104.12255", "--json").output) == left


def test_an_empty_library_says_how_to_add_a_paper(commands: ArxivCommands) -> None:
    assert "marchwarden arxiv add ID" in commands.run("list").output
    assert json.loads(commands.run("list", "--json").output) == []


@pytest.mark.parametrize(
    "arguments, why",
    [
        (("add", "nonsense"), "not an arXiv id"),
        (("info", "2104.12255"), "not in the library"),
        (("remove", "2104.12255"), "not in the library"),
        (("remove", "x"), "not an arXiv id"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], why: str, commands: ArxivCommands) -> None:
    error = commands.run(*arguments).exception
    assert isinstance(error, InvalidInput)
    assert why in str(error) and "\n" not in str(error)


def test_add_continues_after_an_unavailable_paper(commands: ArxivCommands) -> None:
    done = commands.run("add", "2402.07001", "2104.12255")
    assert done.return_value == 1
    assert "withdrawn" in done.stderr and "added 2104.12255v2" in done.stdout
