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


def server(client: str, printed: str) -> dict[str, object]:
    entry = json.loads(printed)["servers" if client == "vscode" else "mcpServers"]["marchwarden"]
    assert isinstance(entry, dict)
    return entry


@pytest.mark.parametrize("client", PLACES)
def test_each_client_gets_its_own_format_with_absolute_paths(shell: Shell, client: str):
    done = shell.run("mcp-config", client, "--files", "notes")
    entry = server(client, done.stdout)
    assert Path(str(entry["command"])).is_absolute()
    assert entry["args"] == ["serve", "files", "--files", str(shell.folder / "notes")]
    assert entry["env"] == {"MARCHWARDEN_HOME": str(shell.home)}
    assert ("type" in entry) == (client in {"vscode", "claude-code"})
    assert PLACES[client] in done.stderr


@pytest.mark.parametrize("client", PLACES)
def test_keys_are_referred_to_and_never_printed(shell: Shell, client: str):
    done = shell.run("mcp-config", client, **{key.name: "very-secret" for key in KEYS})
    assert "very-secret" not in done.stdout + done.stderr
    for key in KEYS:
        assert key.name in (done.stderr if client == "claude-desktop" else done.stdout)


@pytest.mark.parametrize(
    ("given", "served"),
    [
        ([], "pi"),
        (["--db", "shop.sqlite"], "pi"),
        (["--files", "notes", "--db", "postgresql://reader@host/shop"], "pi"),
    ],
)
def test_inputs_decide_which_researcher_is_served(shell: Shell, given: list[str], served: str):
    arguments = server("cursor", shell.run("mcp-config", "cursor", *given).stdout)["args"]
    assert isinstance(arguments, list)
    assert arguments[1] == served
    assert arguments[2:].count("--db") == given.count("--db")


@pytest.mark.parametrize(
    ("given", "said"),
    [(["--files", "nowhere"], "nowhere"), (["--db", "postgresql://reader:pw123@host/shop"], "PGPASSWORD")],
)
def test_inputs_that_would_fail_in_the_client_are_refused(shell: Shell, given: list[str], said: str):
    done = shell.run("mcp-config", "cursor", *given)
    assert (done.returncode, done.stdout, said in done.stderr) == (2, "", True)
    assert "pw123" not in done.stderr


def test_settings_are_passed_on_with_absolute_paths_and_without_passwords(shell: Shell):
    given = {
        "MARCHWARDEN_TRACE_DIR": "runs",
        "MARCHWARDEN_MODEL": "ollama:qwen3",
        "OLLAMA_BASE_URL": "http://me:pw123@models.example/v1",
        "MARCHWARDEN_DEBUG": "1",
    }
    done = shell.run("mcp-config", "cursor", **given)
    entry = server("cursor", done.stdout)["env"]
    runs = str(shell.folder / "runs")
    home = str(shell.home)
    assert entry == {"MARCHWARDEN_MODEL": "ollama:qwen3", "MARCHWARDEN_HOME": home, "MARCHWARDEN_TRACE_DIR": runs}


def test_a_bucket_is_passed_on_unchanged(shell: Shell):
    done = shell.run("mcp-config", "cursor", MARCHWARDEN_TRACE_DIR="s3://team/runs")
    entry = server("cursor", done.stdout)["env"]
    assert isinstance(entry, dict)
    assert entry["MARCHWARDEN_TRACE_DIR"] == "s3://team/runs"


def test_an_unknown_client_is_refused_with_a_list_of_clients(shell: Shell):
    done = shell.run("mcp-config", "emacs")
    assert (done.returncode, "claude-desktop" in done.stderr) == (2, True)


def test_the_printed_command_starts_a_researcher(shell: Shell):
    entry = server("claude-desktop", shell.run("mcp-config", "claude-desktop", "--files", "notes").stdout)
    arguments = entry["args"]
    assert isinstance(arguments, list)
    remote = RemoteResearcher.stdio([str(entry["command"]), *arguments], {"MARCHWARDEN_HOME": str(shell.home)})
    assert anyio.run(remote.server_info, 60.0).contract


def test_the_command_belongs_to_this_installation(shell: Shell):
    command = str(server("cursor", shell.run("mcp-config", "cursor").stdout)["command"])
    assert Path(command).parent == Path(sys.executable).parent
