"""The teller of a machine: shared by workers that would have the same, there until the last answer is kept."""

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


def a_call(slot: str = "calls/a-run/x-1", model: str = "anthropic:claude") -> ModelCall:
    """Of a model that has no key: answered at once, and outside nobody is asked."""
    return ModelCall(slot, model, Request("", "what is a bridge?", "Plan", {}), 100, 5.0)


async def test_workers_of_one_place_and_environment_share_a_teller(tmp_path):
    environ = {**bare_environment(), "XDG_RUNTIME_DIR": str(tmp_path)}
    one, other = ProxyClient(environ, str(tmp_path / "traces")), ProxyClient(environ, str(tmp_path / "traces"))
    assert await one.process() == await other.process()
    outcome = await other.call(a_call())
    assert outcome is not None
    assert outcome.failure is not None
    assert "ANTHROPIC_API_KEY" in outcome.failure.detail
    dead = await one.process()
    os.kill(dead, 9)
    await one.call(a_call("calls/a-run/x-2"))
    assert await one.process() != dead
    await one.close()
    await other.close()


def test_another_key_or_place_has_another_teller(tmp_path):
    environ = {"XDG_RUNTIME_DIR": str(tmp_path), "ANTHROPIC_API_KEY": "one", "PWD": "/here"}
    same = socket_path({**environ, "PWD": "/there"}, "s3://runs")
    assert socket_path(environ, "s3://runs") == same
    assert socket_path({**environ, "ANTHROPIC_API_KEY": "two"}, "s3://runs") != same
    assert socket_path(environ, "s3://others") != same


def test_a_folder_that_others_can_enter_is_not_used():
    with TemporaryDirectory() as short:
        (Path(short) / f"marchwarden-{os.getuid()}").mkdir(mode=0o755)
        with pytest.raises(StorageError, match="accessed by other users"):
            socket_path({"XDG_RUNTIME_DIR": short}, "place")


def test_a_folder_whose_name_is_too_long_for_a_socket_is_left_alone(tmp_path):
    assert len(bytes(socket_path({"XDG_RUNTIME_DIR": str(tmp_path / ("long" * 20))}, "place"))) <= LONGEST_NAME


async def test_a_window_stays_open_for_who_is_there_and_keeps_the_answers_of_who_left(tmp_path: Path):
    notes = FolderNotes(tmp_path / "notes")
    socket = socket_path({}, str(tmp_path))
    async with anyio.create_task_group() as group:
        group.start_soon(ProxyServer(ModelProxy({}, notes), linger_sec=0.2).open, listen(socket))
        line = await ProxyConnection.open(socket)
        assert line is not None
        assert line.process == os.getpid()
        line.calls.write(OUTCOME.dump_json(ModelOutcome()) + b"\n")
        told = await line.call(a_call())
        with anyio.move_on_after(0):
            await line.call(a_call("calls/a-run/x-2"))
        await line.close()
    assert told is not None
    assert notes.read("calls/a-run/x-1/answered") == OUTCOME.dump_json(told)
    assert notes.read("calls/a-run/x-2/answered") is not None


async def test_a_call_that_was_withdrawn_is_not_made(tmp_path):
    notes = FolderNotes(tmp_path)
    notes.write("calls/a-run/x-1/sent", b"withdrawn")
    outcome = await ModelProxy({}, notes).handle(a_call())
    assert outcome.failure == StoredFailure("the call was withdrawn before it was made")
    assert notes.read("calls/a-run/x-1/answered") is None
