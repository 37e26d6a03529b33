"""`doctor`, on homes that are well and homes that are not. Nobody outside loopback is knocked at."""

import json
import socket
from pathlib import Path

import pytest

from marchwarden.cli.doctor_network import ReachableService, check_services, services_in_use
from marchwarden.cli.environment import KEYS
from marchwarden.storage.store import Store
from tests.cli.in_process import Done, Shell
from tests.reports.samples import Cited, Told, written

NOWHERE = {"MARCHWARDEN_WIKIPEDIA_URL": "http://127.0.0.1:9", "MARCHWARDEN_ARXIV_URL": "http://127.0.0.1:9/api"}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def store(shell: Shell) -> Store:
    return Store(shell.home / "traces")


def examined(shell: Shell, *arguments: str, **more: str) -> tuple[Done, dict[str, dict[str, str]]]:
    done = shell.run("doctor", "--json", *arguments, **{**NOWHERE, **more})
    return done, {each["subject"]: each for each in json.loads(done.stdout)}


def test_a_fresh_home_without_keys_and_offline_is_not_broken(shell: Shell):
    done, found = examined(shell)
    assert done.returncode == 0
    assert {each["state"] for each in found.values()} == {"ok", "missing"}
    assert found["keys"]["state"] == found["Wikipedia"]["state"] == found["arXiv"]["state"] == "missing"
    assert all(each["remedy"] for each in found.values() if each["state"] != "ok")
    assert "pydantic" in found["libraries"]["detail"]


def test_it_reads_well_at_eighty_columns(shell: Shell):
    done = shell.run("doctor", "--offline")
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert done.stdout.splitlines()[-1] == "No problems found"
    assert "Wikipedia" not in done.stdout


def test_keys_are_told_to_be_there_and_never_shown(shell: Shell):
    secret = "tvly-very-secret-value"
    for arguments in ([], ["--json"]):
        done = shell.run("doctor", "--offline", *arguments, **{key.name: secret for key in KEYS})
        assert secret not in done.stdout + done.stderr
        assert all(key.name in done.stdout for key in KEYS)


def test_runs_bodies_and_indexes_that_are_well_are_counted(shell: Shell, store: Store):
    written(store, Told("One. [1]", [Cited("https://example.org/a", "A span.")]))
    (shell.folder / "notes").mkdir()
    (shell.folder / "notes" / "a.md").write_text("The bridge was opened in 1931.")
    shell.run("ask", "When was the bridge opened?", "--files", "notes", "--local")
    done, found = examined(shell, "--all")
    assert done.returncode == 0
    assert found["traces"]["detail"] == "2 of 2 checked, all intact"
    assert found["archive"]["detail"].endswith("files checked, all intact")
    assert found["index"]["detail"] == "folders 1, documents 1"


def test_a_changed_body_is_found_and_named(shell: Shell, store: Store):
    name = store.archive.keep(b"as it was")
    store.archive.path(name).write_bytes(b"as it is now")
    done, found = examined(shell, "--offline")
    assert (done.returncode, found["archive"]["state"]) == (1, "broken")
    assert name in found["archive"]["detail"]


def test_a_sample_is_the_latest_and_all_is_all(shell: Shell, store: Store):
    for number in range(201):
        store.archive.keep(str(number).encode())
    assert examined(shell, "--offline")[1]["archive"]["detail"].startswith("200 of 201")
    assert examined(shell, "--offline", "--all")[1]["archive"]["detail"].startswith("201 of 201")


def test_a_damaged_trace_is_broken_and_an_unfinished_one_can_be_resumed(shell: Shell, store: Store):
    trace = store.path(written(store, Told("One.")))
    whole = trace.read_bytes()
    trace.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    done, found = examined(shell, "--offline")
    assert (done.returncode, f"marchwarden resume {trace.stem}" in found["traces"]["remedy"]) == (0, True)
    trace.write_bytes(whole.replace(b"One", b"Two"))
    done, found = examined(shell, "--offline")
    assert (done.returncode, found["traces"]["state"]) == (1, "broken")


def test_what_cannot_be_read_is_broken_and_the_rest_is_looked_at_all_the_same(shell: Shell, store: Store):
    body = store.archive.path(store.archive.keep(b"a body"))
    body.unlink()
    body.mkdir()
    trace = store.path("4b6b2a52-6f3c-4f0e-9d0a-0d8a3f0f7a11")
    trace.mkdir()
    done, found = examined(shell, "--offline")
    assert (done.returncode, found["archive"]["state"], found["traces"]["state"]) == (1, "broken", "broken")
    assert f"marchwarden verify {trace.stem}" in found["traces"]["remedy"]
    assert found["prices"]["state"] == "ok"


def test_looking_leaves_nothing_behind(shell: Shell):
    assert shell.run("doctor", "--offline").returncode == 0
    assert not shell.home.exists()


def test_a_damaged_index_is_broken(shell: Shell):
    index = shell.home / "index" / "0" / "v1" / "documents.sqlite"
    index.parent.mkdir(parents=True)
    index.write_bytes(b"no database" * 1000)
    done, found = examined(shell, "--offline")
    assert (done.returncode, found["index"]["state"]) == (1, "broken")


MISTAKES = {
    "model": {"MARCHWARDEN_MODEL": "nobody:knows"},
    "trace folder": {"MARCHWARDEN_TRACE_DIR": "/dev/null/traces"},
    "addresses": {"MARCHWARDEN_ARXIV_URL": "nonsense"},
}


@pytest.mark.parametrize("subject", MISTAKES)
def test_a_mistake_in_the_environment_is_broken_with_a_remedy(shell: Shell, subject: str):
    done, found = examined(shell, **MISTAKES[subject])
    assert (done.returncode, found[subject]["state"], bool(found[subject]["remedy"])) == (1, "broken", True)


FILES = {
    "prices": ("prices.toml", "input = 'much'"),
    "researchers.toml": ("researchers.toml", "[a]\nurl = 3"),
    "researcher gone": ("researchers.toml", '[gone]\ncommand = ["/no/such/program"]'),
}


@pytest.mark.parametrize("subject", FILES)
def test_a_file_of_the_home_that_does_not_do_is_broken_with_a_remedy(shell: Shell, subject: str):
    name, text = FILES[subject]
    shell.home.mkdir()
    (shell.home / name).write_text(text)
    done, found = examined(shell)
    assert (done.returncode, found[subject]["state"], bool(found[subject]["remedy"])) == (1, "broken", True)


def test_who_listens_can_be_reached_and_who_never_answers_is_not_waited_for():
    listening, full = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0), backlog=0)
    with listening, full:
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(full.getsockname())
        at = [f"http://127.0.0.1:{each.getsockname()[1]}" for each in (listening, full)]
        found = check_services(
            [ReachableService("one", at[0], ""), ReachableService("two", at[1], "do without")], timeout=0.3
        )
        for each in waiting:
            each.close()
    assert found[0].state == "ok"
    assert (found[1].state, found[1].remedy) == ("missing", "do without")


def test_only_those_who_would_be_asked_are_knocked_at():
    assert [each.name for each in services_in_use({})] == ["Wikipedia", "arXiv"]
    assert [each.name for each in services_in_use({"MARCHWARDEN_SEARXNG_URL": "http://s"})] == ["SearXNG", "arXiv"]
    keys = {"TAVILY_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}
    assert [each.name for each in services_in_use(keys)] == ["Tavily", "arXiv", "Anthropic"]
