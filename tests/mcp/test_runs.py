"""Calls that outlive their host: the same question joins, a cancelled one stops, a lost one is found again."""

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
from marchwarden.protocols import ProgressSink, ignore_progress
from marchwarden.storage.store import Store
from tests.investigating import QUESTION
from tests.mcp.held_source import HeldSource, at_an_address, house, served
from tests.mcp.scripted import Answering, Endless, result, server_of
from tests.mcp.test_http_server import CALL, HANDSHAKE, HEADERS
from tests.world.memory import MemorySource

BOTH_ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
ASKED = {"question": QUESTION}


class Mending(Answering):
    """Fails the first time."""

    async def research(self, *args: Any, progress: ProgressSink = ignore_progress) -> ResearchResult:
        answer = await super().research(*args, progress=progress)
        if len(self.asked) == 1:
            raise RuntimeError("a bug")
        return answer


def found(reply: CallToolResult) -> ResearchResult:
    assert not reply.is_error, reply.content
    return ResearchResult.model_validate(reply.structured_content)


@asynccontextmanager
async def asking(
    client: Client, arguments: dict[str, Any], replies: list[CallToolResult]
) -> AsyncIterator[anyio.CancelScope]:
    """A call under way; the scope it yields cancels it."""

    async def ask(scope: anyio.CancelScope) -> None:
        with scope:
            replies.append(await client.call_tool("research", arguments))

    async with anyio.create_task_group() as tasks:
        scope = anyio.CancelScope()
        tasks.start_soon(ask, scope)
        yield scope


async def until(source: HeldSource) -> None:
    with anyio.fail_after(60):
        await source.reached.wait()


@BOTH_ERAS
async def test_two_identical_calls_cost_one_run(mode: Any, tmp_path) -> None:
    source = HeldSource()
    replies: list[CallToolResult] = []
    async with (
        at_an_address(served(tmp_path, source)) as url,
        Client(url, mode=mode) as one,
        Client(url, mode=mode) as other,
        asking(one, ASKED, replies),
    ):
        await until(source)
        async with asking(other, {"question": f" {QUESTION} ", "depth": "balanced"}, replies):
            source.release.set()
    first, second = (found(reply) for reply in replies)
    assert first == second
    assert first.citations
    assert Store(tmp_path).traces() == [first.trace_id]


@pytest.mark.parametrize(
    "more", [{"context": "I know the river"}, {"depth": "shallow"}, {"constraints": {"max_sources": 1}}]
)
async def test_a_call_that_differs_in_anything_is_a_run_of_its_own(more: dict[str, Any], tmp_path) -> None:
    async with Client(served(tmp_path, MemorySource())) as client:
        one = found(await client.call_tool("research", ASKED))
        other = found(await client.call_tool("research", {**ASKED, **more}))
    assert one.trace_id != other.trace_id


async def test_inside_the_window_a_finished_run_stands_for_the_same_question(tmp_path) -> None:
    source = MemorySource()
    async with Client(served(tmp_path, source)) as client:
        first = found(await client.call_tool("research", ASKED))
        calls = len(source.calls)
        assert found(await client.call_tool("research", ASKED)) == first
    async with Client(served(tmp_path, source)) as after_a_restart:
        assert found(await after_a_restart.call_tool("research", ASKED)) == first
    assert len(source.calls) == calls


async def test_outside_the_window_the_same_question_is_asked_anew(tmp_path) -> None:
    async with Client(served(tmp_path, MemorySource(), house(join_window=0))) as client:
        first = found(await client.call_tool("research", ASKED))
        assert found(await client.call_tool("research", ASKED)).trace_id != first.trace_id


async def test_a_run_that_found_nothing_does_not_stand_for_the_same_question(tmp_path) -> None:
    async with Client(served(tmp_path, MemorySource(documents=()))) as client:
        first = found(await client.call_tool("research", ASKED))
        assert found(await client.call_tool("research", ASKED)).trace_id != first.trace_id


async def test_a_failure_does_not_stand_for_the_same_question() -> None:
    researcher = Mending()
    async with Client(server_of(researcher)) as client:
        assert (await client.call_tool("research", ASKED)).is_error
        assert found(await client.call_tool("research", ASKED)) == result()


@BOTH_ERAS
async def test_of_two_who_wait_one_may_leave_and_the_other_is_answered(mode: Any, tmp_path) -> None:
    source = HeldSource()
    replies: list[CallToolResult] = []
    async with Client(served(tmp_path, source), mode=mode) as client, asking(client, ASKED, replies):
        await until(source)
        async with asking(client, ASKED, []) as leaving:
            await anyio.lowlevel.checkpoint()
            leaving.cancel()
        source.release.set()
    assert found(replies[0]).citations


@BOTH_ERAS
async def test_a_cancelled_call_stops_and_asked_again_goes_on_without_paying_twice(mode: Any, tmp_path) -> None:
    source = HeldSource()
    replies: list[CallToolResult] = []
    async with at_an_address(served(tmp_path, source)) as url, Client(url, mode=mode) as client:
        async with asking(client, ASKED, []) as cancelled:
            await until(source)
            cancelled.cancel()
        with anyio.fail_after(60):
            await source.stopped.wait()
        (trace_id,) = Store(tmp_path).traces()
        with pytest.raises(MCPError, match="is not finished; to continue an interrupted run, send its request again"):
            await client.read_resource(f"result://{trace_id}")
        searched = list(source.searches)
        source.release.set()
        async with asking(client, ASKED, replies):
            pass
    assert found(replies[0]).trace_id == trace_id
    assert source.searches[: len(searched)] == searched
    assert len(set(source.searches)) == len(source.searches)


async def test_a_client_that_disconnects_after_a_second_finds_the_finished_result_later(tmp_path) -> None:
    source = HeldSource()
    async with at_an_address(served(tmp_path, source)) as url:
        lines = await progress_until_hung_up(url, seconds=1)
        trace_id = lines[0].rpartition("trace ")[2].rstrip("]")
        assert all(trace_id in line for line in lines)
        source.release.set()
        async with Client(url) as later:
            text = await finished(later, trace_id)
            assert found(await later.call_tool("research", ASKED)) == ResearchResult.model_validate_json(text)


async def progress_until_hung_up(url: str, seconds: float) -> list[str]:
    """What a host of the 2025 wire hears until its connection is gone: nothing is cancelled, nobody says goodbye."""
    asked = json.loads(json.dumps(CALL).replace('"q"', json.dumps(QUESTION)))
    heard: list[str] = []
    async with httpx2.AsyncClient(trust_env=False, headers=HEADERS) as http:
        session = (await http.post(url, json=HANDSHAKE)).headers["mcp-session-id"]
        with anyio.move_on_after(60) as connected:
            async with http.stream("POST", url, json=asked, headers={"mcp-session-id": session}) as stream:
                async for line in stream.aiter_lines():
                    if line.startswith("data: {"):
                        heard.append(json.loads(line[6:])["params"]["message"])
                        connected.deadline = min(connected.deadline, anyio.current_time() + seconds)
    return heard


async def finished(client: Client, trace_id: str) -> str:
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


async def test_the_finished_result_is_a_resource() -> None:
    async with Client(server_of(Endless())) as client:
        trace_id = result().trace_id
        assert ResearchResult.model_validate_json(await finished(client, trace_id)) == result()


async def test_a_server_that_stops_cuts_runs_short_and_the_next_one_goes_on_with_them(tmp_path) -> None:
    source = HeldSource()
    replies: list[CallToolResult] = []
    async with anyio.create_task_group() as tasks, at_an_address(served(tmp_path, source)) as url:

        async def ask() -> None:
            async with Client(url, mode="legacy") as client:
                replies.append(await client.call_tool("research", ASKED))

        tasks.start_soon(ask)
        await until(source)
    assert "the server is stopping; asked again, the run goes on where it stopped" in str(replies[0].content[0])
    (trace_id,) = Store(tmp_path).traces()
    searched = list(source.searches)
    source.release.set()
    async with Client(served(tmp_path, source)) as client:
        assert found(await client.call_tool("research", ASKED)).trace_id == trace_id
    assert source.searches[: len(searched)] == searched
    assert len(set(source.searches)) == len(source.searches)


async def test_whoever_joins_hears_at_once_how_far_the_run_is(tmp_path) -> None:
    source = HeldSource()
    heard: list[str] = []
    replies: list[CallToolResult] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")
        source.release.set()

    async with Client(served(tmp_path, source)) as client, asking(client, ASKED, replies):
        await until(source)
        with anyio.fail_after(60):
            await client.call_tool("research", ASKED, progress_callback=hear)
    assert heard[0].startswith("fetch: ")
    assert found(replies[0]).trace_id in heard[0]
