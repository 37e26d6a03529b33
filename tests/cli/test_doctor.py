"""`marchwarden doctor` on intact and broken installations. Connects only to loopback addresses."""

import json
import socket
from pathlib import Path

import pytest

from marchwarden.cli.doctor_network import ReachableService, check_services, services_in_use
from marchwarden.cli.environment import KEYS
from marchwarden.storage.store import Store
from tests.cli.in_process import CommandResult, Shell
from tests.reports.samples import SampleCitation, SampleRun, write_run

UNREACHABLE = {"MARCHWARDEN_WIKIPEDIA_URL": "http://127.0.0.1:9", "MARCHWARDEN_ARXIV_URL": "http://127.0.0.1:9/api"}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def store(shell: Shell) -> Store:
    return Store(shell.home / "traces")


def run_doctor(shell: Shell, *arguments: str, **more: str) -> tuple[CommandResult, dict[str, dict[str, str]]]:
    done = shell.run("doctor", "--json", *arguments, **{**UNREACHABLE, **more})
    return done, {each["subject"]: each for each in json.loads(done.stdout)}


def test_a_fresh_installation_without_keys_and_network_is_not_broken(shell: Shell):
    done, checks = run_doctor(shell)
    assert done.returncode == 0
    assert {each["state"] for each in checks.values()} == {"ok", "missing"}
    assert checks["keys"]["state"] == checks["Wikipedia"]["state"] == checks["arXiv"]["state"] == "missing"
    assert all(each["remedy"] for each in checks.values() if each["state"] != "ok")
    assert "pydantic" in checks["libraries"]["detail"]


def test_output_fits_80_columns(shell: Shell):
    done = shell.run("doctor", "--offline")
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert done.stdout.splitlines()[-1] == "No problems found"
    assert "Wikipedia" not in done.stdout


def test_keys_are_listed_but_never_shown(shell: Shell):
    secret = "tvly-very-secret-value"
    for arguments in ([], ["--json"]):
        done = shell.run("doctor", "--offline", *arguments, **{key.name: secret for key in KEYS})
        assert secret not in done.stdout + done.stderr
        assert all(key.name in done.stdout for key in KEYS)


def test_intact_traces_archive_files_and_indexes_are_counted(shell: Shell, store: Store):
    write_run(store, SampleRun("One. [1]", [SampleCitation("https://example.org/a", "A span.")]))
    (shell.folder / "notes").mkdir()
    (shell.folder / "notes" / "a.md").write_text("The bridge was opened in 1931.")
    shell.run("ask", "When was the bridge opened?", "--files", "notes", "--local")
    done, checks = run_doctor(shell, "--all")
    assert done.returncode == 0
    assert checks["traces"]["detail"] == "2 of 2 checked, all intact"
    assert checks["archive"]["detail"].endswith("files checked, all intact")
    assert checks["index"]["detail"] == "folders 1, documents 1"


def test_a_changed_archive_file_is_named(shell: Shell, store: Store):
    name = store.archive.keep(b"as it was")
    store.archive.path(name).write_bytes(b"as it is now")
    done, checks = run_doctor(shell, "--offline")
    assert (done.returncode, checks["archive"]["state"]) == (1, "broken")
    assert name in checks["archive"]["detail"]


def test_all_checks_every_file_instead_of_a_sample(shell: Shell, store: Store):
    for number in range(201):
        store.archive.keep(str(number).encode())
    assert run_doctor(shell, "--offline")[1]["archive"]["detail"].startswith("200 of 201")
    assert run_doctor(shell, "--offline", "--all")[1]["archive"]["detail"].startswith("201 of 201")


def test_a_damaged_trace_is_broken_and_an_unfinished_one_can_be_resumed(shell: Shell, store: Store):
    trace = store.path(write_run(store, SampleRun("One.")))
    whole = trace.read_bytes()
    trace.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    done, checks = run_doctor(shell, "--offline")
    assert (done.returncode, f"marchwarden resume {trace.stem}" in checks["traces"]["remedy"]) == (0, True)
    trace.write_bytes(whole.replace(b"One", b"Two"))
    done, checks = run_doctor(shell, "--offline")
    assert (done.returncode, checks["traces"]["state"]) == (1, "broken")


def test_unreadable_files_are_broken_and_the_other_checks_still_run(shell: Shell, store: Store):
    body = store.archive.path(store.archive.keep(b"a body"))
    body.unlink()
    body.mkdir()
    trace = store.path("4b6b2a52-6f3c-4f0e-9d0a-0d8a3f0f7a11")
    trace.mkdir()
    done, checks = run_doctor(shell, "--offline")
    assert (done.returncode, checks["archive"]["state"], checks["traces"]["state"]) == (1, "broken", "broken")
    assert f"marchwarden verify {trace.stem}" in checks["traces"]["remedy"]
    assert checks["prices"]["state"] == "ok"


def test_doctor_creates_no_files(shell: Shell):
    assert shell.run("doctor", "--offline").returncode == 0
    assert not shell.home.exists()


def test_a_damaged_index_is_broken(shell: Shell):
    index = shell.home / "index" / "0" / "v1" / "documents.sqlite"
    index.parent.mkdir(parents=True)
    index.write_bytes(b"no database" * 1000)
    done, checks = run_doctor(shell, "--offline")
    assert (done.returncode, checks["index"]["state"]) == (1, "broken")


MISTAKES = {
    "model": {"MARCHWARDEN_MODEL": "unknown:model"},
    "trace folder": {"MARCHWARDEN_TRACE_DIR": "/dev/null/traces"},
    "addresses": {"MARCHWARDEN_ARXIV_URL": "nonsense"},
}


@pytest.mark.parametrize("subject", MISTAKES)
def test_a_mistake_in_the_environment_is_broken_with_a_remedy(shell: Shell, subject: str):
    done, checks = run_doctor(shell, **MISTAKES[subject])
    assert (done.returncode, checks[subject]["state"], bool(checks[subject]["remedy"])) == (1, "broken", True)


FILES = {
    "prices": ("prices.toml", "input = 'much'"),
    "researchers.toml": ("researchers.toml", "[a]\nurl = 3"),
    "researcher gone": ("researchers.toml", '[gone]\ncommand = ["/no/such/program"]'),
}


@pytest.mark.parametrize("subject", FILES)
def test_a_bad_configuration_file_is_broken_with_a_remedy(shell: Shell, subject: str):
    name, text = FILES[subject]
    shell.home.mkdir()
    (shell.home / name).write_text(text)
    done, checks = run_doctor(shell)
    assert (done.returncode, checks[subject]["state"], bool(checks[subject]["remedy"])) == (1, "broken", True)


def test_services_are_reachable_or_time_out():
    listening, full = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0), backlog=0)
    with listening, full:
        clients = [socket.socket() for _ in range(4)]
        for each in clients:
            each.setblocking(False)
            each.connect_ex(full.getsockname())
        urls = [f"http://127.0.0.1:{each.getsockname()[1]}" for each in (listening, full)]
        checks = check_services(
            [ReachableService("one", urls[0], ""), ReachableService("two", urls[1], "do without")], timeout=0.3
        )
        for each in clients:
            each.close()
    assert checks[0].state == "ok"
    assert (checks[1].state, checks[1].remedy) == ("missing", "do without")


def test_only_services_in_use_are_checked():
    assert [each.name for each in services_in_use({})] == ["Wikipedia", "arXiv"]
    assert [each.name for each in services_in_use({"MARCHWARDEN_SEARXNG_URL": "http://s"})] == ["SearXNG", "arXiv"]
    keys = {"TAVILY_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}
    assert [each.name for each in services_in_use(keys)] == ["Tavily", "arXiv", "Anthropic"]
