"""The model proxy of a machine: shared by workers with the same settings, running until the last answer is stored."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest

from marchwarden.errors import StorageError
from marchwarden.minds.llm.model import Request
from marchwarden.storage.notes import FolderNotes
from marchwarden.temporal.model_calls import OUTCOME, ModelCall, ModelOutcome, StoredFailure
from marchwarden.temporal.model_proxy import ModelProxy, ProxyServer, listen
from marchwarden.temporal.model_proxy_client import LONGEST_NAME, ProxyClient, ProxyConnection, socket_path
from tests.cli.in_process import bare_environment

pytestmark = pytest.mark.slow


def make_call(slot: str = "calls/a-run/x-1", model: str = "anthropic:claude") -> ModelCall:
    """Return a call to a model without a key: it fails immediately, without network access."""
    return ModelCall(slot, model, Request("", "what is a bridge?", "Plan", {}), 100, 5.0)


async def test_workers_with_the_same_store_and_environment_share_a_proxy(tmp_path):
    environ = {**bare_environment(), "XDG_RUNTIME_DIR": str(tmp_path)}
    one, other = ProxyClient(environ, str(tmp_path / "traces")), ProxyClient(environ, str(tmp_path / "traces"))
    assert await one.process() == await other.process()
    outcome = await other.call(make_call())
    assert outcome is not None
    assert outcome.failure is not None
    assert "ANTHROPIC_API_KEY" in outcome.failure.detail
    killed = await one.process()
    os.kill(killed, 9)
    await one.call(make_call("calls/a-run/x-2"))
    assert await one.process() != killed
    await one.close()
    await other.close()


def test_another_key_or_store_has_another_proxy(tmp_path):
    environ = {"XDG_RUNTIME_DIR": str(tmp_path), "ANTHROPIC_API_KEY": "one", "PWD": "/here"}
    same = socket_path({**environ, "PWD": "/there"}, "s3://runs")
    assert socket_path(environ, "s3://runs") == same
    assert socket_path({**environ, "ANTHROPIC_API_KEY": "two"}, "s3://runs") != same
    assert socket_path(environ, "s3://others") != same


def test_a_folder_open_to_other_users_is_rejected():
    with TemporaryDirectory() as short:
        (Path(short) / f"marchwarden-{os.getuid()}").mkdir(mode=0o755)
        with pytest.raises(StorageError, match="accessed by other users"):
            socket_path({"XDG_RUNTIME_DIR": short}, "place")


def test_a_path_too_long_for_a_socket_is_not_used(tmp_path):
    assert len(bytes(socket_path({"XDG_RUNTIME_DIR": str(tmp_path / ("long" * 20))}, "place"))) <= LONGEST_NAME


async def test_the_server_stays_open_for_clients_and_stores_the_answers_of_disconnected_ones(tmp_path: Path):
    notes = FolderNotes(tmp_path / "notes")
    socket = socket_path({}, str(tmp_path))
    async with anyio.create_task_group() as group:
        group.start_soon(ProxyServer(ModelProxy({}, notes), linger_sec=0.2).open, listen(socket))
        connection = await ProxyConnection.open(socket)
        assert connection is not None
        assert connection.process == os.getpid()
        connection.calls.write(OUTCOME.dump_json(ModelOutcome()) + b"\n")
        outcome = await connection.call(make_call())
        with anyio.move_on_after(0):
            await connection.call(make_call("calls/a-run/x-2"))
        await connection.close()
    assert outcome is not None
    assert notes.read("calls/a-run/x-1/answered") == OUTCOME.dump_json(outcome)
    assert notes.read("calls/a-run/x-2/answered") is not None


async def test_a_withdrawn_call_is_not_made(tmp_path):
    notes = FolderNotes(tmp_path)
    notes.write("calls/a-run/x-1/sent", b"withdrawn")
    outcome = await ModelProxy({}, notes).handle(make_call())
    assert outcome.failure == StoredFailure("the call was withdrawn before it was made")
    assert notes.read("calls/a-run/x-1/answered") is None
