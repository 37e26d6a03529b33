"""Runs that are shared, cancelled, resumed and found again."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp_types import CallToolResult, TextResourceContents

from marchwarden.contract import ResearchResult
from marchwarden.loop import recorded
from marchwarden.mcp.protocol import BUSY, RETRY_KEY
from marchwarden.protocols import ProgressSink, ignore_progress
from marchwarden.storage.store import Store
from tests.investigating import QUESTION
from tests.mcp.held_source import HeldSource, held_server, http_url, make_config
from tests.mcp.scripted import AnsweringResearcher, EndlessResearcher, result, scripted_server
from tests.mcp.test_http_server import CALL, HANDSHAKE, HEADERS
from tests.world.memory import MemorySource

BOTH_PROTOCOLS = pytest.mark.parametrize("mode", ["auto", "legacy"])
ARGUMENTS = {"question": QUESTION}


class FailingOnce(AnsweringResearcher):
    """Fails at the first request."""

    async def research(self, *args: Any, progress: ProgressSink = ignore_progress) -> ResearchResult:
        answer = await super().research(*args, progress=progress)
        if len(self.asked) == 1:
            raise RuntimeError("a bug")
        return answer


def parse_reply(reply: CallToolResult) -> ResearchResult:
    assert not reply.is_error, reply.content
    return ResearchResult.model_validate(reply.structured_content)


@asynccontextmanager
async def pending_call(
    client: Client, arguments: dict[str, Any], replies: list[CallToolResult]
) -> AsyncIterator[anyio.CancelScope]:
    """Keep a call pending. Yields the scope that cancels it."""

    async def ask(scope: anyio.CancelScope) -> None:
        with scope:
            replies.append(await client.call_tool("research", arguments))

    async with anyio.create_task_group() as tasks:
        scope = anyio.CancelScope()
        tasks.start_soon(ask, scope)
        yield scope


async def wait_for_fetch(source: HeldSource) -> None:
    with anyio.fail_after(60):
        await source.reached.wait()


@BOTH_PROTOCOLS
async def test_identical_calls_share_one_run(mode: Any, tmp_path) -> None:
    source = HeldSource()
    replies: list[CallToolResult] = []
    async with (
        http_url(held_server(tmp_path, source)) as url,
        Client(url, mode=mode) as one,
        Client(url, mode=mode) as other,
        pending_call(one, ARGUMENTS, replies),
    ):
        await wait_for_fetch(source)
        async with pending_call(other, {"question": f" {QUESTION} ", "depth": "balanced"}, replies):
            source.release.set()
    first, second = (parse_reply(reply) for reply in replies)
    assert first == second
    assert first.citations
    assert Store(tmp_path).traces() == [first.trace_id]


@pytest.mark.parametrize(
    "more", [{"context": "about the river"}, {"depth": "shallow"}, {"constraints": {"max_sources": 1}}]
)
async def test_different_calls_do_not_share_a_run(more: dict[str, Any], tmp_path) -> None:
    async with Client(held_server(tmp_path, MemorySource())) as client:
        one = parse_reply(await client.call_tool("research", ARGUMENTS))
        other = parse_reply(await client.call_tool("research", {**ARGUMENTS, **more}))
    assert one.trace_id != other.trace_id


async def test_finished_run_answers_the_same_request_within_the_join_window(tmp_path) -> None:
    source = MemorySource()
    async with Client(held_server(tmp_path, source)) as client:
        first = parse_reply(await client.call_tool("research", ARGUMENTS))
        calls = len(source.calls)
        assert parse_reply(await client.call_tool("research", ARGUMENTS)) == first
    async with Client(held_server(tmp_path, source)) as after_a_restart:
        assert parse_reply(await after_a_restart.call_tool("research", ARGUMENTS)) == first
    assert len(source.calls) == calls


async def test_request_outside_the_join_window_starts_a_new_run(tmp_path) -> None:
    async with Client(held_server(tmp_path, MemorySource(), make_config(join_window=0))) as client:
        first = parse_reply(await client.call_tool("research", ARGUMENTS))
        assert parse_reply(await client.call_tool("research", ARGUMENTS)).trace_id != first.trace_id


async def test_run_without_citations_is_not_reused(tmp_path) -> None:
    async with Client(held_server(tmp_path, MemorySource(documents=()))) as client:
        first = parse_reply(await client.call_tool("research", ARGUMENTS))
        assert parse_reply(await client.call_tool("research", ARGUMENTS)).trace_id != first.trace_id


async def test_failed_run_is_not_reused() -> None:
    researcher = FailingOnce()
    async with Client(scripted_server(researcher)) as client:
        assert (await client.call_tool("research", ARGUMENTS)).is_error
        assert parse_reply(await client.call_tool("research", ARGUMENTS)) == result()


@BOTH_PROTOCOLS
async def test_cancelling_one_of_two_calls_does_not_cancel_the_shared_run(mode: Any, tmp_path) -> None:
    source = HeldSource()
    replies: list[CallToolResult] = []
    async with (
        Client(held_server(tmp_path, source), mode=mode) as client,
        pending_call(client, ARGUMENTS, replies),
    ):
        await wait_for_fetch(source)
        async with pending_call(client, ARGUMENTS, []) as scope:
            await anyio.lowlevel.checkpoint()
            scope.cancel()
        source.release.set()
    assert parse_reply(replies[0]).citations


async def test_run_that_another_server_is_writing_is_not_paid_twice(tmp_path, monkeypatch) -> None:
    """Two servers share a folder. While the first runs, the second says when to try again."""
    monkeypatch.setattr(recorded, "LOCK_TIMEOUT_SEC", 0.2)
    source, other = HeldSource(), MemorySource()
    replies: list[CallToolResult] = []
    async with Client(held_server(tmp_path, source)) as first, Client(held_server(tmp_path, other)) as second:
        async with pending_call(first, ARGUMENTS, replies):
            await wait_for_fetch(source)
            with pytest.raises(MCPError, match="another process") as caught:
                await second.call_tool("research", ARGUMENTS)
            source.release.set()
        assert (caught.value.error.code, caught.value.error.data) == (BUSY, {RETRY_KEY: 10})
        answer = parse_reply(await second.call_tool("research", ARGUMENTS))
    assert answer == parse_reply(replies[0])
    assert other.calls == []
    assert Store(tmp_path).traces() == [answer.trace_id]


@BOTH_PROTOCOLS
async def test_cancelled_run_resumes_without_repeating_searches(mode: Any, tmp_path) -> None:
    source = HeldSource()
    replies: list[CallToolResult] = []
    async with http_url(held_server(tmp_path, source)) as url, Client(url, mode=mode) as client:
        async with pending_call(client, ARGUMENTS, []) as scope:
            await wait_for_fetch(source)
            scope.cancel()
        with anyio.fail_after(60):
            await source.stopped.wait()
        (trace_id,) = Store(tmp_path).traces()
        with pytest.raises(MCPError, match="is not finished; to continue an interrupted run, send its request again"):
            await client.read_resource(f"result://{trace_id}")
        searches_before = list(source.searches)
        source.release.set()
        async with pending_call(client, ARGUMENTS, replies):
            pass
    assert parse_reply(replies[0]).trace_id == trace_id
    assert source.searches[: len(searches_before)] == searches_before
    assert len(set(source.searches)) == len(source.searches)


async def test_result_can_be_read_after_a_disconnect(tmp_path) -> None:
    source = HeldSource()
    async with http_url(held_server(tmp_path, source)) as url:
        lines = await progress_until_disconnect(url, seconds=1)
        trace_id = lines[0].rpartition("trace ")[2].rstrip("]")
        assert all(trace_id in line for line in lines)
        source.release.set()
        async with Client(url) as later:
            text = await wait_for_result(later, trace_id)
            assert parse_reply(await later.call_tool("research", ARGUMENTS)) == ResearchResult.model_validate_json(text)


async def progress_until_disconnect(url: str, seconds: float) -> list[str]:
    """Return the progress until the connection is dropped, without cancelling, as a client of the 2025 protocol."""
    call = json.loads(json.dumps(CALL).replace('"q"', json.dumps(QUESTION)))
    messages: list[str] = []
    async with httpx2.AsyncClient(trust_env=False, headers=HEADERS) as http:
        session = (await http.post(url, json=HANDSHAKE)).headers["mcp-session-id"]
        with anyio.move_on_after(60) as connected:
            async with http.stream("POST", url, json=call, headers={"mcp-session-id": session}) as stream:
                async for line in stream.aiter_lines():
                    if line.startswith("data: {"):
                        messages.append(json.loads(line[6:])["params"]["message"])
                        connected.deadline = min(connected.deadline, anyio.current_time() + seconds)
    return messages


async def wait_for_result(client: Client, trace_id: str) -> str:
    with anyio.fail_after(60):
        while True:
            try:
                (contents,) = (await client.read_resource(f"result://{trace_id}")).contents
            except MCPError:
                await anyio.sleep(0.02)
                continue
            assert isinstance(contents, TextResourceContents)
            assert contents.mime_type == "application/json"
            return contents.text


async def test_finished_result_is_a_resource() -> None:
    async with Client(scripted_server(EndlessResearcher())) as client:
        trace_id = result().trace_id
        assert ResearchResult.model_validate_json(await wait_for_result(client, trace_id)) == result()


async def test_run_interrupted_by_a_server_stop_resumes_on_the_next_server(tmp_path) -> None:
    source = HeldSource()
    replies: list[CallToolResult] = []
    async with anyio.create_task_group() as tasks, http_url(held_server(tmp_path, source)) as url:

        async def ask() -> None:
            async with Client(url, mode="legacy") as client:
                replies.append(await client.call_tool("research", ARGUMENTS))

        tasks.start_soon(ask)
        await wait_for_fetch(source)
    assert "the server is stopping; send the same request again to continue the run" in str(replies[0].content[0])
    (trace_id,) = Store(tmp_path).traces()
    searches_before = list(source.searches)
    source.release.set()
    async with Client(held_server(tmp_path, source)) as client:
        assert parse_reply(await client.call_tool("research", ARGUMENTS)).trace_id == trace_id
    assert source.searches[: len(searches_before)] == searches_before
    assert len(set(source.searches)) == len(source.searches)


async def test_joining_call_gets_the_latest_progress_immediately(tmp_path) -> None:
    source = HeldSource()
    messages: list[str] = []
    replies: list[CallToolResult] = []

    async def collect(progress: float, total: float | None, message: str | None) -> None:
        messages.append(message or "")
        source.release.set()

    async with Client(held_server(tmp_path, source)) as client, pending_call(client, ARGUMENTS, replies):
        await wait_for_fetch(source)
        with anyio.fail_after(60):
            await client.call_tool("research", ARGUMENTS, progress_callback=collect)
    assert messages[0].startswith("fetch: ")
    assert parse_reply(replies[0]).trace_id in messages[0]
