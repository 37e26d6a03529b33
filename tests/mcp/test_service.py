"""The HTTP server as a service: who is let in, how much each may ask, what happens when it is too much, and the end."""

import json
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import pytest
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from starlette.types import Receive, Scope, Send

from marchwarden.errors import Busy, InvalidInput
from marchwarden.mcp.auth import AuthMiddleware
from marchwarden.mcp.clients import ANONYMOUS, ServiceClient, ServiceConfig
from marchwarden.mcp.fair_queue import FairQueue
from marchwarden.mcp.protocol import BUSY, RETRY_KEY
from marchwarden.mcp.service import CallRateLimiter, Service
from tests.mcp.held_source import HeldSource, at_an_address, house, served
from tests.mcp.test_http_server import CALL, post
from tests.mcp.test_runs import ASKED, asking, found, until
from tests.mcp.test_tasks import token_of
from tests.world.memory import MemorySource

if TYPE_CHECKING:
    from mcp_types import CallToolResult


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}"}


@asynccontextmanager
async def calling(url: str, name: str, mode: Any = "auto") -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(trust_env=False, headers=bearer(name)) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


async def got(url: str, path: str, headers: dict[str, str] | None = None) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False) as http:
        return await http.get(url.removesuffix("/mcp") + path, headers=headers)


def other(number: int) -> dict[str, Any]:
    return {**ASKED, "context": f"number {number}"}


async def test_each_client_has_a_token_of_its_own_and_no_other_is_let_in(tmp_path: Path) -> None:
    async with at_an_address(served(tmp_path, MemorySource(), house(token_of("ada"), token_of("bob")))) as url:
        assert (await post(url, bearer("eve"))).status_code == 401
        assert (await post(url)).status_code == 401
        for name in ("ada", "bob"):
            async with calling(url, name) as client:
                assert found(await client.call_tool("research", ASKED)).citations


async def test_nobody_gets_into_the_session_of_another(tmp_path: Path) -> None:
    async with at_an_address(served(tmp_path, MemorySource(), house(token_of("ada"), token_of("bob")))) as url:
        session = (await post(url, bearer("ada"))).headers["mcp-session-id"]
        listing = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).encode()
        theirs = {"mcp-session-id": session, "mcp-protocol-version": "2025-06-18"}
        assert (await post(url, {**bearer("bob"), **theirs}, listing)).status_code == 404
        assert (await post(url, {**bearer("ada"), **theirs}, listing)).status_code == 200


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_full_queue_says_when_to_come_again(mode: Any, tmp_path: Path) -> None:
    source = HeldSource()
    replies: list[CallToolResult] = []
    async with (
        at_an_address(served(tmp_path, source, house(concurrent=1, queued=1))) as url,
        Client(url, mode=mode) as client,
        asking(client, other(1), replies),
    ):
        await until(source)
        async with asking(client, other(2), replies):
            await waiting(url, 1)
            with pytest.raises(MCPError, match=r"the queue is full: try again in \d+ seconds") as refused:
                await client.call_tool("research", other(3))
            source.release.set()
    assert refused.value.code == BUSY
    assert refused.value.data[RETRY_KEY] >= 1
    assert [found(reply).citations != () for reply in replies] == [True, True]


async def waiting(url: str, many: int) -> None:
    with anyio.fail_after(60):
        while True:
            if f"marchwarden_runs_queued {many}\n" in (await got(url, "/metrics")).text:
                return
            await anyio.sleep(0.02)


async def test_on_the_2026_wire_a_refusal_is_a_429_with_retry_after_and_a_json_rpc_error(tmp_path: Path) -> None:
    caller = token_of("ada", calls_per_minute=1)
    headers = {
        **bearer("ada"),
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "research",
    }
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "by hand", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    call = {**CALL, "params": {"name": "research", "arguments": ASKED, "_meta": meta}}
    async with at_an_address(served(tmp_path, MemorySource(), house(caller))) as url:
        assert (await post(url, headers, json.dumps(call).encode())).status_code == 200
        refused = await post(url, headers, json.dumps(call).encode())
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) == refused.json()["error"]["data"][RETRY_KEY] >= 1
    assert refused.json()["error"]["message"].startswith("ada may make 1 calls a minute: try again in ")


async def test_a_refusal_behind_the_door_is_a_429_too(tmp_path: Path) -> None:
    caller = token_of("ada", tokens_per_day=1000)
    statuses: list[int] = []

    async def note(response: httpx2.Response) -> None:
        statuses.append(response.status_code)

    async with (
        at_an_address(served(tmp_path, MemorySource(), house(caller))) as url,
        httpx2.AsyncClient(trust_env=False, headers=bearer("ada"), event_hooks={"response": [note]}) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        with pytest.raises(MCPError, match=r"ada has 1000 of its 1000 tokens left today: try again in \d+ seconds"):
            await client.call_tool("research", ASKED)
    assert statuses[-1] == 429


async def test_one_client_over_its_quota_does_not_stand_in_the_way_of_another(tmp_path: Path) -> None:
    source = HeldSource()
    greedy, modest = token_of("greedy", concurrent=1, queued=1, calls_per_minute=50), token_of("modest")
    replies: list[CallToolResult] = []
    async with (
        at_an_address(served(tmp_path, source, house(greedy, modest, concurrent=2, queued=2))) as url,
        calling(url, "greedy") as many,
        calling(url, "modest") as one,
        AsyncExitStack() as calls,
    ):
        for number in range(2):
            await calls.enter_async_context(asking(many, other(number), replies))
        await until(source)
        for number in range(2, 10):
            with pytest.raises(MCPError, match=r"greedy has \d calls waiting, its share|a minute|the queue is full"):
                await many.call_tool("research", other(number))
        source.release.set()
        assert found(await one.call_tool("research", ASKED)).citations


async def test_while_one_client_is_refused_again_and_again_every_call_of_another_is_answered(tmp_path: Path) -> None:
    greedy, modest = token_of("greedy", calls_per_minute=1), token_of("modest")
    refusals: list[str] = []
    async with (
        at_an_address(served(tmp_path, MemorySource(), house(greedy, modest))) as url,
        calling(url, "greedy") as many,
        calling(url, "modest") as one,
        anyio.create_task_group() as tasks,
    ):

        async def insist(number: int) -> None:
            try:
                await many.call_tool("research", other(number))
            except MCPError as error:
                refusals.append(error.message)

        for number in range(10):
            for again in range(10):
                tasks.start_soon(insist, 10 * number + again)
            assert found(await one.call_tool("research", other(number))).citations
    assert len(refusals) == 99
    assert all(line.startswith("greedy may make 1 calls a minute: try again in ") for line in refusals)


async def test_tokens_of_a_day_are_counted_over_restarts_and_what_is_under_way_counts(tmp_path: Path) -> None:
    source, caller = HeldSource(), token_of("ada", tokens_per_day=30_000)
    replies: list[CallToolResult] = []
    async with (
        at_an_address(served(tmp_path, source, house(caller))) as url,
        calling(url, "ada") as client,
        asking(client, ASKED, replies),
    ):
        await until(source)
        with pytest.raises(MCPError, match="ada has 10000 of its 30000 tokens left today"):
            await client.call_tool("research", other(2))
        source.release.set()
    left = 30_000 - found(replies[0]).cost_metadata.tokens_used
    assert left < 30_000
    async with at_an_address(served(tmp_path, source, house(caller))) as url, calling(url, "ada") as client:
        with pytest.raises(MCPError, match=f"ada has {left} of its 30000 tokens left today"):
            await client.call_tool("research", {**other(2), "constraints": {"token_budget": left + 1}})
        assert found(await client.call_tool("research", other(2))).citations


async def test_a_call_may_not_ask_for_more_tokens_than_its_client_may_spend_on_one(tmp_path: Path) -> None:
    house_ = house(token_of("ada", tokens_per_call=5000))
    async with at_an_address(served(tmp_path, MemorySource(), house_)) as url, calling(url, "ada") as client:
        refused = await client.call_tool("research", ASKED)
        assert refused.is_error
        assert "constraints.token_budget may be at most 5000 for ada" in str(refused.content[0])
        assert found(await client.call_tool("research", {**ASKED, "depth": "shallow"})).citations


async def test_health_is_told_to_everybody_and_the_metrics_to_operators(tmp_path: Path) -> None:
    guests = house(token_of("ada"), token_of("ops", operator=True))
    async with at_an_address(served(tmp_path, MemorySource(), guests)) as url, calling(url, "ada") as client:
        await client.call_tool("research", ASKED)
        await client.call_tool("research", ASKED)
        await client.call_tool("research", {"question": ""})
        health = await got(url, "/healthz")
        assert (health.status_code, health.text) == (200, "ok\n")
        assert (await got(url, "/metrics")).status_code == 401
        assert (await got(url, "/metrics", bearer("ada"))).status_code == 403
        assert (await got(url, "/metrics", {**bearer("ops"), "host": "attacker.example"})).status_code == 421
        metrics = await got(url, "/metrics", bearer("ops"))
    assert metrics.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = metrics.text.splitlines()
    assert 'marchwarden_calls_total{client="ada",outcome="answered"} 2' in lines
    assert 'marchwarden_calls_total{client="ada",outcome="invalid_input"} 1' in lines
    assert 'marchwarden_runs_total{client="ada",kind="new"} 1' in lines
    assert 'marchwarden_runs_total{client="ada",kind="recalled"} 1' in lines
    assert "marchwarden_run_seconds_count 2" in lines
    assert "marchwarden_runs_in_flight 0" in lines


DRAINING = """
import anyio, functools, sys
from pathlib import Path
from tests.mcp.held_source import HeldSource, house, served
from marchwarden.mcp.http_server import serve_http

async def main():
    source = HeldSource()
    server = served(Path(sys.argv[1]), source, house(drain=float(sys.argv[2])))
    async with anyio.create_task_group() as tasks:
        async def serve():
            await serve_http(server, '127.0.0.1', 0, announce=functools.partial(print, flush=True))
            tasks.cancel_scope.cancel()
        tasks.start_soon(serve)
        await source.reached.wait()
        print("reached", flush=True)
        while not server.service.draining:
            await anyio.sleep(0.01)
        print("draining", flush=True)
        await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)
        source.release.set()

anyio.run(main)
"""


@contextmanager
def ended_with(process: Process) -> Iterator[None]:
    """Whatever fails meanwhile must not leave a server that waits for a line."""
    try:
        yield
    finally:
        if process.returncode is None:
            process.kill()


@pytest.mark.parametrize(
    ("drain", "signals", "is_let_go"),
    [("60", [signal.SIGTERM], True), ("60", [signal.SIGTERM, signal.SIGTERM], False), ("60", [signal.SIGINT], False)],
)
async def test_told_to_stop_it_lets_runs_end_and_begins_no_other(
    drain: str, signals: list[signal.Signals], is_let_go: bool, tmp_path: Path
) -> None:
    replies: list[CallToolResult] = []
    async with await anyio.open_process([sys.executable, "-c", DRAINING, str(tmp_path), drain]) as process:
        assert process.stdout is not None and process.stdin is not None
        said = BufferedByteReceiveStream(process.stdout)
        with anyio.fail_after(60), ended_with(process):
            url = (await said.receive_until(b"\n", 1000)).decode()
            async with Client(url, mode="legacy") as client:
                # Else the client asks for the tool's schema after the answer, of a server that is gone.
                await client.list_tools()
                async with asking(client, ASKED, replies):
                    assert await said.receive_until(b"\n", 1000) == b"reached"
                    process.send_signal(signals[0])
                    if signals[0] is signal.SIGTERM:
                        assert await said.receive_until(b"\n", 1000) == b"draining"
                        assert (await got(url, "/healthz")).status_code == 503
                        async with Client(url) as late:
                            with pytest.raises(MCPError, match=r"the server is stopping: try again in \d+ seconds"):
                                await late.call_tool("research", other(2))
                    for again in signals[1:]:
                        process.send_signal(again)
                    if is_let_go:
                        await process.stdin.send(b"\n")
            await process.stdin.aclose()
            assert await process.wait() == 0
    (reply,) = replies
    assert reply.is_error is not is_let_go
    if not is_let_go:
        assert "the server is stopping; asked again, the run goes on where it stopped" in str(reply.content[0])


async def test_who_waits_is_told_the_trace_id_before_there_is_a_place(tmp_path: Path) -> None:
    source = HeldSource()
    replies: list[CallToolResult] = []
    heard: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")
        source.release.set()

    async with Client(served(tmp_path, source, house(concurrent=1))) as client, asking(client, ASKED, replies):
        await until(source)
        with anyio.fail_after(60):
            second = found(await client.call_tool("research", other(2), progress_callback=hear))
    assert heard[0] == f"wait: in the queue (1 waiting) [iteration 0, 0 sources, trace {second.trace_id}]"


def test_callers_take_turns_at_the_gate() -> None:
    queue = FairQueue(concurrent=1, queued=10)
    ada, bob = ServiceClient("ada"), ServiceClient("bob")
    inside = queue.enter(ada)
    waiting_ = [queue.enter(ada), queue.enter(ada), queue.enter(bob)]
    order = []
    while waiting_:
        queue.leave(inside)
        (inside,) = [ticket for ticket in waiting_ if ticket.admitted.is_set()]
        waiting_.remove(inside)
        order.append(inside.client.name)
    assert order == ["ada", "bob", "ada"]


def test_who_gives_up_waiting_leaves_the_queue() -> None:
    queue = FairQueue(concurrent=1, queued=1)
    queue.enter(ANONYMOUS)
    queue.leave(queue.enter(ANONYMOUS))
    assert (queue.running, queue.waiting) == (1, 0)
    queue.enter(ANONYMOUS)
    with pytest.raises(Busy, match="the queue is full: try again in 60 seconds"):
        queue.enter(ANONYMOUS)


def test_a_quota_fills_again_with_time() -> None:
    now = [0.0]
    limiter, client = CallRateLimiter(lambda: now[0]), ServiceClient("ada", calls_per_minute=2)
    limiter.count(client)
    limiter.count(client)
    with pytest.raises(Busy, match="try again in 30 seconds"):
        limiter.count(client)
    now[0] = 30.0
    limiter.count(client)


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("[service]\nconcurrent = 0\n", "service.concurrent: Input should be greater than or equal to 1"),
        ("[service]\nspeed = 1\n", "service.speed: unknown setting"),
        ("[clients.ada]\n", "clients.ada.token_env: Field required"),
        ("[clients.ada]\ntoken_env = 'EMPTY'\n", "the variable EMPTY with the token of 'ada' is empty or not set"),
        (
            "[clients.ada]\ntoken_env = 'TOKEN'\n[clients.bob]\ntoken_env = 'TOKEN'\n",
            "two clients have the same token",
        ),
        ("[clients", "service.toml: Expected"),
    ],
)
def test_a_service_file_that_is_wrong_is_one_clear_line(written: str, line: str, tmp_path: Path) -> None:
    path = tmp_path / "service.toml"
    path.write_text(written, encoding="utf-8")
    with pytest.raises(InvalidInput) as refused:
        ServiceConfig.load(path, {"TOKEN": "t", "EMPTY": ""})
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_service_file_gives_terms_and_callers_and_keeps_no_token(tmp_path: Path) -> None:
    path = tmp_path / "service.toml"
    path.write_text(
        "[service]\nconcurrent = 3\ndrain = 5\n[clients.ada]\ntoken_env = 'TOKEN'\ntokens_per_day = 9\n",
        encoding="utf-8",
    )
    loaded = ServiceConfig.load(path, {"TOKEN": "sesame"})
    assert (loaded.limits.concurrent, loaded.limits.queued, loaded.limits.drain) == (3, 512, 5)
    ada = loaded.registry.authenticate("Bearer sesame")
    assert ada is not None and (ada.name, ada.tokens_per_day, ada.operator) == ("ada", 9, False)
    assert loaded.registry.authenticate("Basic sesame") is None
    assert "sesame" not in repr(loaded)


@pytest.mark.parametrize(("method", "is_waited_for"), [("POST", True), ("GET", False)])
async def test_draining_waits_for_answers_that_are_being_sent_not_for_streams_that_listen(
    method: str, is_waited_for: bool
) -> None:
    service, sent = Service(), anyio.Event()

    async def answering(scope: Scope, receive: Receive, send: Send) -> None:
        await sent.wait()

    scope = {"type": "http", "method": method, "path": "/mcp", "headers": []}
    drained = False

    async def drain() -> None:
        nonlocal drained
        await service.drain()
        drained = True

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(AuthMiddleware(answering, service, ()), scope, never, never)
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(drain)
        await anyio.wait_all_tasks_blocked()
        assert drained is not is_waited_for
        sent.set()
    assert drained


async def never(*_: object) -> Any:
    raise AssertionError("nothing is read and nothing sent here")
