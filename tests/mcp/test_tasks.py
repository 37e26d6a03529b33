"""The tasks extension: a call answered at once, its result fetched later, by its caller and nobody else."""

import sqlite3
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.extension import advertise
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolRequest, CallToolRequestParams, EmptyResult, Request, RequestParams, Result

from marchwarden.contract import ResearchResult
from marchwarden.mcp.clients import ClientRegistry, ServiceClient
from marchwarden.mcp.tasks import EXTENSION, TaskState
from marchwarden.storage.store import Store
from tests.investigating import QUESTION
from tests.mcp.held_source import HeldSource, at_an_address, house, served
from tests.mcp.scripted import Answering, server_of
from tests.mcp.test_runs import ASKED, found, until
from tests.world.memory import MemorySource


class Named(RequestParams):
    task_id: str


class Get(Request[Named, Literal["tasks/get"]]):
    method: Literal["tasks/get"] = "tasks/get"
    params: Named
    name_param = "taskId"


class Cancel(Request[Named, Literal["tasks/cancel"]]):
    method: Literal["tasks/cancel"] = "tasks/cancel"
    params: Named
    name_param = "taskId"


def speaking(target: Any) -> Client:
    return Client(target, extensions=[advertise(EXTENSION)])


async def begun(client: Client, arguments: dict[str, Any] = ASKED) -> TaskState:
    request = CallToolRequest(params=CallToolRequestParams(name="research", arguments=arguments))
    return await client.session.send_request(request, TaskState)


async def got(client: Client, task_id: str) -> TaskState:
    return await client.session.send_request(Get(params=Named(task_id=task_id)), TaskState)


async def cancelled(client: Client, task_id: str) -> Result:
    return await client.session.send_request(Cancel(params=Named(task_id=task_id)), EmptyResult)


async def ended(client: Client, task_id: str) -> TaskState:
    with anyio.fail_after(60):
        while True:
            task = await got(client, task_id)
            if task.status != "working":
                return task
            await anyio.sleep(0.02)


async def test_a_call_is_a_task_at_once_and_its_result_can_be_had_over_another_connection(tmp_path: Path) -> None:
    source = HeldSource()
    async with at_an_address(served(tmp_path, source)) as url:
        async with speaking(url) as client:
            task = await begun(client)
            assert (task.result_type, task.status) == ("task", "working")
            await until(source)
            (trace_id,) = Store(tmp_path).traces()
            assert trace_id in ((await got(client, task.task_id)).status_message or "")
        source.release.set()
        async with speaking(url) as later:
            done = await ended(later, task.task_id)
    assert done.result is not None
    assert ResearchResult.model_validate(done.result["structuredContent"]).trace_id == trace_id


async def test_a_client_that_does_not_speak_of_tasks_gets_none(tmp_path: Path) -> None:
    async with at_an_address(served(tmp_path, MemorySource())) as url, Client(url) as client:
        assert found(await client.call_tool("research", ASKED)).citations
        with pytest.raises(MCPError, match=f"this needs the extension {EXTENSION}"):
            await got(client, "anything")


async def test_a_task_survives_the_death_of_its_server_and_is_gone_on_with_by_the_next(tmp_path: Path) -> None:
    source = HeldSource()
    async with at_an_address(served(tmp_path, source)) as url, speaking(url) as client:
        task = await begun(client)
        await until(source)
    searched, (trace_id,) = list(source.searches), Store(tmp_path).traces()
    source.release.set()
    async with at_an_address(served(tmp_path, source)) as url, speaking(url) as client:
        done = await ended(client, task.task_id)
    assert done.status == "completed"
    assert done.result is not None
    assert done.result["structuredContent"]["trace_id"] == trace_id
    assert source.searches[: len(searched)] == searched
    assert len(set(source.searches)) == len(source.searches)


async def test_a_task_gone_on_with_long_after_the_window_is_still_the_same_run(tmp_path: Path) -> None:
    source = HeldSource()
    async with at_an_address(served(tmp_path, source)) as url, speaking(url) as client:
        task = await begun(client)
        await until(source)
    (trace_id,) = Store(tmp_path).traces()
    source.release.set()
    async with at_an_address(served(tmp_path, source, house(join_window=0))) as url, speaking(url) as client:
        done = await ended(client, task.task_id)
    assert done.result is not None
    assert done.result["structuredContent"]["trace_id"] == trace_id


async def test_a_cancelled_task_stops_spending_and_stays_cancelled(tmp_path: Path) -> None:
    source = HeldSource()
    async with at_an_address(served(tmp_path, source)) as url, speaking(url) as client:
        task = await begun(client)
        await until(source)
        await cancelled(client, task.task_id)
        with anyio.fail_after(60):
            await source.stopped.wait()
        assert (await got(client, task.task_id)).status == "cancelled"
        source.release.set()
        await cancelled(client, task.task_id)
        assert (await got(client, task.task_id)).status == "cancelled"


async def test_two_tasks_of_the_same_question_share_a_run_and_one_may_be_cancelled(tmp_path: Path) -> None:
    source = HeldSource()
    async with at_an_address(served(tmp_path, source)) as url, speaking(url) as client:
        one, other = await begun(client), await begun(client)
        assert one.task_id != other.task_id
        await until(source)
        await cancelled(client, one.task_id)
        source.release.set()
        done = await ended(client, other.task_id)
        assert (await got(client, one.task_id)).status == "cancelled"
    assert done.status == "completed"
    assert len(Store(tmp_path).traces()) == 1


def token_of(name: str, **limits: Any) -> ServiceClient:
    (caller,) = ClientRegistry.with_token(name).clients
    return ServiceClient(name, caller.digest, **limits)


async def test_a_task_and_its_result_are_for_the_one_who_asked(tmp_path: Path) -> None:
    source = MemorySource()
    server = served(tmp_path, source, house(token_of("ada"), token_of("eve")))

    def calling(name: str) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(trust_env=False, headers={"Authorization": f"Bearer {name}"})

    async with (
        at_an_address(server) as url,
        calling("ada") as as_ada,
        calling("eve") as as_eve,
        speaking(streamable_http_client(url, http_client=as_ada)) as ada,
        speaking(streamable_http_client(url, http_client=as_eve)) as eve,
    ):
        task = await begun(ada)
        done = await ended(ada, task.task_id)
        assert done.result is not None
        trace_id = done.result["structuredContent"]["trace_id"]
        assert (await ada.read_resource(f"result://{trace_id}")).contents
        for uri in (f"result://{trace_id}", f"trace://{trace_id}"):
            with pytest.raises(MCPError, match=f"eve has no trace {trace_id}"):
                await eve.read_resource(uri)
        for ask in (got, cancelled):
            with pytest.raises(MCPError, match="there is no task with that id"):
                await ask(eve, task.task_id)
        others = await ended(eve, (await begun(eve)).task_id)
        assert others.result is not None
        assert others.result["structuredContent"]["trace_id"] != trace_id


async def test_an_id_cannot_be_guessed_and_is_not_kept(tmp_path: Path) -> None:
    source = HeldSource()
    async with at_an_address(served(tmp_path, source)) as url, speaking(url) as client:
        ids = {(await begun(client, {"question": f"{QUESTION} {number}"})).task_id for number in range(5)}
        assert len(ids) == 5
        assert all(len(task_id) >= 43 for task_id in ids)
        with sqlite3.connect(tmp_path / "calls.sqlite") as ledger:
            kept = ledger.execute("SELECT digest FROM tasks").fetchall()
        ledger.close()
    assert len(kept) == 5
    assert not {digest for (digest,) in kept} & ids


async def test_a_task_expires(tmp_path: Path) -> None:
    async with at_an_address(served(tmp_path, HeldSource(), house(task_ttl=0.05))) as url, speaking(url) as client:
        task = await begun(client)
        assert task.ttl_ms == 50
        with pytest.raises(MCPError, match="there is no task with that id"):
            await ended(client, task.task_id)


async def test_a_server_that_forgets_with_its_process_offers_no_tasks() -> None:
    async with speaking(server_of(Answering())) as client:
        assert not (client.server_capabilities.extensions or {})
        assert found(await client.call_tool("research", ASKED)).citations
