import json
import sys
from pathlib import Path

import anyio
import pytest

from marchwarden.cli.commands.mcp_config import PLACES
from marchwarden.cli.environment import KEYS
from marchwarden.mcp.client import RemoteResearcher
from tests.cli.in_process import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "notes").mkdir()
    return Shell(tmp_path)


def server(host: str, printed: str) -> dict[str, object]:
    told = json.loads(printed)["servers" if host == "vscode" else "mcpServers"]["marchwarden"]
    assert isinstance(told, dict)
    return told


@pytest.mark.parametrize("host", PLACES)
def test_each_host_gets_its_own_form_with_whole_paths(shell: Shell, host: str):
    done = shell.run("mcp-config", host, "--files", "notes")
    told = server(host, done.stdout)
    assert Path(str(told["command"])).is_absolute()
    assert told["args"] == ["serve", "files", "--files", str(shell.folder / "notes")]
    assert told["env"] == {"MARCHWARDEN_HOME": str(shell.home)}
    assert ("type" in told) == (host in {"vscode", "claude-code"})
    assert PLACES[host] in done.stderr


@pytest.mark.parametrize("host", PLACES)
def test_keys_are_referred_to_and_never_printed(shell: Shell, host: str):
    done = shell.run("mcp-config", host, **{key.name: "very-secret" for key in KEYS})
    assert "very-secret" not in done.stdout + done.stderr
    for key in KEYS:
        assert key.name in (done.stderr if host == "claude-desktop" else done.stdout)


@pytest.mark.parametrize(
    ("given", "served"),
    [
        ([], "pi"),
        (["--db", "shop.sqlite"], "pi"),
        (["--files", "notes", "--db", "postgresql://reader@host/shop"], "pi"),
    ],
)
def test_whatever_is_given_the_right_researcher_is_served(shell: Shell, given: list[str], served: str):
    arguments = server("cursor", shell.run("mcp-config", "cursor", *given).stdout)["args"]
    assert isinstance(arguments, list)
    assert arguments[1] == served
    assert arguments[2:].count("--db") == given.count("--db")


@pytest.mark.parametrize(
    ("given", "said"),
    [(["--files", "nowhere"], "nowhere"), (["--db", "postgresql://reader:pw123@host/shop"], "PGPASSWORD")],
)
def test_what_a_host_could_only_fail_with_is_refused(shell: Shell, given: list[str], said: str):
    done = shell.run("mcp-config", "cursor", *given)
    assert (done.returncode, done.stdout, said in done.stderr) == (2, "", True)
    assert "pw123" not in done.stderr


def test_settings_are_passed_on_with_whole_paths_but_no_address_that_holds_a_password(shell: Shell):
    given = {
        "MARCHWARDEN_TRACE_DIR": "runs",
        "MARCHWARDEN_MODEL": "ollama:qwen3",
        "OLLAMA_BASE_URL": "http://me:pw123@models.example/v1",
        "MARCHWARDEN_DEBUG": "1",
    }
    done = shell.run("mcp-config", "cursor", **given)
    told = server("cursor", done.stdout)["env"]
    runs = str(shell.folder / "runs")
    home = str(shell.home)
    assert told == {"MARCHWARDEN_MODEL": "ollama:qwen3", "MARCHWARDEN_HOME": home, "MARCHWARDEN_TRACE_DIR": runs}


def test_a_bucket_is_passed_on_as_it_is(shell: Shell):
    done = shell.run("mcp-config", "cursor", MARCHWARDEN_TRACE_DIR="s3://team/runs")
    told = server("cursor", done.stdout)["env"]
    assert isinstance(told, dict)
    assert told["MARCHWARDEN_TRACE_DIR"] == "s3://team/runs"


def test_an_unknown_host_is_refused_with_those_there_are(shell: Shell):
    done = shell.run("mcp-config", "emacs")
    assert (done.returncode, "claude-desktop" in done.stderr) == (2, True)


def test_a_host_that_does_what_it_is_told_reaches_a_researcher(shell: Shell):
    told = server("claude-desktop", shell.run("mcp-config", "claude-desktop", "--files", "notes").stdout)
    arguments = told["args"]
    assert isinstance(arguments, list)
    remote = RemoteResearcher.stdio([str(told["command"]), *arguments], {"MARCHWARDEN_HOME": str(shell.home)})
    assert anyio.run(remote.server_info, 60.0).contract


def test_the_command_is_the_one_of_this_installation(shell: Shell):
    command = str(server("cursor", shell.run("mcp-config", "cursor").stdout)["command"])
    assert Path(command).parent == Path(sys.executable).parent
