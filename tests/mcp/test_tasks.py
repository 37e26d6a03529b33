"""The tasks extension: calls return a task immediately, and only its client can fetch the result."""

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
from tests.mcp.held_source import HeldSource, held_server, http_url, make_config
from tests.mcp.scripted import AnsweringResearcher, scripted_server
from tests.mcp.test_runs import ARGUMENTS, parse_reply, wait_for_fetch
from tests.world.memory import MemorySource

pytestmark = pytest.mark.slow


class TaskIdParams(RequestParams):
    task_id: str


class GetTask(Request[TaskIdParams, Literal["tasks/get"]]):
    method: Literal["tasks/get"] = "tasks/get"
    params: TaskIdParams
    name_param = "taskId"


class CancelTask(Request[TaskIdParams, Literal["tasks/cancel"]]):
    method: Literal["tasks/cancel"] = "tasks/cancel"
    params: TaskIdParams
    name_param = "taskId"


def task_client(target: Any) -> Client:
    return Client(target, extensions=[advertise(EXTENSION)])


async def start_task(client: Client, arguments: dict[str, Any] = ARGUMENTS) -> TaskState:
    request = CallToolRequest(params=CallToolRequestParams(name="research", arguments=arguments))
    return await client.session.send_request(request, TaskState)


async def get_task(client: Client, task_id: str) -> TaskState:
    return await client.session.send_request(GetTask(params=TaskIdParams(task_id=task_id)), TaskState)


async def cancel_task(client: Client, task_id: str) -> Result:
    return await client.session.send_request(CancelTask(params=TaskIdParams(task_id=task_id)), EmptyResult)


async def wait_for_task(client: Client, task_id: str) -> TaskState:
    with anyio.fail_after(60):
        while True:
            task = await get_task(client, task_id)
            if task.status != "working":
                return task
            await anyio.sleep(0.02)


async def test_task_result_can_be_fetched_over_another_connection(tmp_path: Path) -> None:
    source = HeldSource()
    async with http_url(held_server(tmp_path, source)) as url:
        async with task_client(url) as client:
            task = await start_task(client)
            assert (task.result_type, task.status) == ("task", "working")
            await wait_for_fetch(source)
            (trace_id,) = Store(tmp_path).traces()
            assert trace_id in ((await get_task(client, task.task_id)).status_message or "")
        source.release.set()
        async with task_client(url) as later:
            done = await wait_for_task(later, task.task_id)
    assert done.result is not None
    assert ResearchResult.model_validate(done.result["structuredContent"]).trace_id == trace_id


async def test_client_without_the_extension_gets_no_task(tmp_path: Path) -> None:
    async with http_url(held_server(tmp_path, MemorySource())) as url, Client(url) as client:
        assert parse_reply(await client.call_tool("research", ARGUMENTS)).citations
        with pytest.raises(MCPError, match=f"this needs the extension {EXTENSION}"):
            await get_task(client, "anything")


async def test_task_survives_its_server_and_resumes_on_the_next(tmp_path: Path) -> None:
    source = HeldSource()
    async with http_url(held_server(tmp_path, source)) as url, task_client(url) as client:
        task = await start_task(client)
        await wait_for_fetch(source)
    searches_before, (trace_id,) = list(source.searches), Store(tmp_path).traces()
    source.release.set()
    async with http_url(held_server(tmp_path, source)) as url, task_client(url) as client:
        done = await wait_for_task(client, task.task_id)
    assert done.status == "completed"
    assert done.result is not None
    assert done.result["structuredContent"]["trace_id"] == trace_id
    assert source.searches[: len(searches_before)] == searches_before
    assert len(set(source.searches)) == len(source.searches)


async def test_task_resumes_the_same_run_after_the_join_window(tmp_path: Path) -> None:
    source = HeldSource()
    async with http_url(held_server(tmp_path, source)) as url, task_client(url) as client:
        task = await start_task(client)
        await wait_for_fetch(source)
    (trace_id,) = Store(tmp_path).traces()
    source.release.set()
    async with (
        http_url(held_server(tmp_path, source, make_config(join_window=0))) as url,
        task_client(url) as client,
    ):
        done = await wait_for_task(client, task.task_id)
    assert done.result is not None
    assert done.result["structuredContent"]["trace_id"] == trace_id


async def test_cancelled_task_stops_its_run_and_stays_cancelled(tmp_path: Path) -> None:
    source = HeldSource()
    async with http_url(held_server(tmp_path, source)) as url, task_client(url) as client:
        task = await start_task(client)
        await wait_for_fetch(source)
        await cancel_task(client, task.task_id)
        with anyio.fail_after(60):
            await source.stopped.wait()
        assert (await get_task(client, task.task_id)).status == "cancelled"
        source.release.set()
        await cancel_task(client, task.task_id)
        assert (await get_task(client, task.task_id)).status == "cancelled"


async def test_cancelling_one_of_two_tasks_does_not_cancel_the_shared_run(tmp_path: Path) -> None:
    source = HeldSource()
    async with http_url(held_server(tmp_path, source)) as url, task_client(url) as client:
        one, other = await start_task(client), await start_task(client)
        assert one.task_id != other.task_id
        await wait_for_fetch(source)
        await cancel_task(client, one.task_id)
        source.release.set()
        done = await wait_for_task(client, other.task_id)
        assert (await get_task(client, one.task_id)).status == "cancelled"
    assert done.status == "completed"
    assert len(Store(tmp_path).traces()) == 1


def client_with_token(name: str, **limits: Any) -> ServiceClient:
    (client,) = ClientRegistry.with_token(name).clients
    return ServiceClient(name, client.digest, **limits)


async def test_task_and_result_are_visible_only_to_their_client(tmp_path: Path) -> None:
    source = MemorySource()
    server = held_server(tmp_path, source, make_config(client_with_token("ada"), client_with_token("eve")))

    def http_for(name: str) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(trust_env=False, headers={"Authorization": f"Bearer {name}"})

    async with (
        http_url(server) as url,
        http_for("ada") as as_ada,
        http_for("eve") as as_eve,
        task_client(streamable_http_client(url, http_client=as_ada)) as ada,
        task_client(streamable_http_client(url, http_client=as_eve)) as eve,
    ):
        task = await start_task(ada)
        done = await wait_for_task(ada, task.task_id)
        assert done.result is not None
        trace_id = done.result["structuredContent"]["trace_id"]
        assert (await ada.read_resource(f"result://{trace_id}")).contents
        for uri in (f"result://{trace_id}", f"trace://{trace_id}"):
            with pytest.raises(MCPError, match=f"eve has no trace {trace_id}"):
                await eve.read_resource(uri)
        for request in (get_task, cancel_task):
            with pytest.raises(MCPError, match="there is no task with that id"):
                await request(eve, task.task_id)
        others = await wait_for_task(eve, (await start_task(eve)).task_id)
        assert others.result is not None
        assert others.result["structuredContent"]["trace_id"] != trace_id


async def test_task_ids_are_random_and_not_stored(tmp_path: Path) -> None:
    source = HeldSource()
    async with http_url(held_server(tmp_path, source)) as url, task_client(url) as client:
        ids = {(await start_task(client, {"question": f"{QUESTION} {number}"})).task_id for number in range(5)}
        assert len(ids) == 5
        assert all(len(task_id) >= 43 for task_id in ids)
        with sqlite3.connect(tmp_path / "calls.sqlite") as connection:
            rows = connection.execute("SELECT digest FROM tasks").fetchall()
        connection.close()
    assert len(rows) == 5
    assert not {digest for (digest,) in rows} & ids


async def test_task_expires(tmp_path: Path) -> None:
    async with (
        http_url(held_server(tmp_path, HeldSource(), make_config(task_ttl=0.05))) as url,
        task_client(url) as client,
    ):
        task = await start_task(client)
        assert task.ttl_ms == 50
        with pytest.raises(MCPError, match="there is no task with that id"):
            await wait_for_task(client, task.task_id)


async def test_server_without_a_call_store_file_offers_no_tasks() -> None:
    async with task_client(scripted_server(AnsweringResearcher())) as client:
        assert not (client.server_capabilities.extensions or {})
        assert parse_reply(await client.call_tool("research", ARGUMENTS)).citations
