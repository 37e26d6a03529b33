"""The HTTP server as a service: tokens, limits, metrics and graceful shutdown."""

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
from tests.mcp.held_source import HeldSource, held_server, http_url, make_config
from tests.mcp.test_http_server import CALL, post
from tests.mcp.test_runs import ARGUMENTS, parse_reply, pending_call, wait_for_fetch
from tests.mcp.test_tasks import client_with_token
from tests.world.memory import MemorySource

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from mcp_types import CallToolResult


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}"}


@asynccontextmanager
async def client_for(url: str, name: str, mode: Any = "auto") -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(trust_env=False, headers=bearer(name)) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


async def get(url: str, path: str, headers: dict[str, str] | None = None) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False) as http:
        return await http.get(url.removesuffix("/mcp") + path, headers=headers)


def other_arguments(number: int) -> dict[str, Any]:
    return {**ARGUMENTS, "context": f"number {number}"}


async def test_each_client_has_its_own_token(tmp_path: Path) -> None:
    async with http_url(
        held_server(tmp_path, MemorySource(), make_config(client_with_token("ada"), client_with_token("bob")))
    ) as url:
        assert (await post(url, bearer("eve"))).status_code == 401
        assert (await post(url)).status_code == 401
        for name in ("ada", "bob"):
            async with client_for(url, name) as client:
                assert parse_reply(await client.call_tool("research", ARGUMENTS)).citations


async def test_client_cannot_use_the_session_of_another(tmp_path: Path) -> None:
    async with http_url(
        held_server(tmp_path, MemorySource(), make_config(client_with_token("ada"), client_with_token("bob")))
    ) as url:
        session = (await post(url, bearer("ada"))).headers["mcp-session-id"]
        listing = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).encode()
        theirs = {"mcp-session-id": session, "mcp-protocol-version": "2025-06-18"}
        assert (await post(url, {**bearer("bob"), **theirs}, listing)).status_code == 404
        assert (await post(url, {**bearer("ada"), **theirs}, listing)).status_code == 200


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_full_queue_says_when_to_retry(mode: Any, tmp_path: Path) -> None:
    source = HeldSource()
    replies: list[CallToolResult] = []
    async with (
        http_url(held_server(tmp_path, source, make_config(concurrent=1, queued=1))) as url,
        Client(url, mode=mode) as client,
        pending_call(client, other_arguments(1), replies),
    ):
        await wait_for_fetch(source)
        async with pending_call(client, other_arguments(2), replies):
            await wait_for_queue(url, 1)
            with pytest.raises(MCPError, match=r"the queue is full: try again in \d+ seconds") as refused:
                await client.call_tool("research", other_arguments(3))
            source.release.set()
    assert refused.value.code == BUSY
    assert refused.value.data[RETRY_KEY] >= 1
    assert [parse_reply(reply).citations != () for reply in replies] == [True, True]


async def wait_for_queue(url: str, length: int) -> None:
    with anyio.fail_after(60):
        while True:
            if f"marchwarden_runs_queued {length}\n" in (await get(url, "/metrics")).text:
                return
            await anyio.sleep(0.02)


async def test_rate_limited_call_is_a_429_with_retry_after_and_a_json_rpc_error(tmp_path: Path) -> None:
    limited = client_with_token("ada", calls_per_minute=1)
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
    call = {**CALL, "params": {"name": "research", "arguments": ARGUMENTS, "_meta": meta}}
    async with http_url(held_server(tmp_path, MemorySource(), make_config(limited))) as url:
        assert (await post(url, headers, json.dumps(call).encode())).status_code == 200
        refused = await post(url, headers, json.dumps(call).encode())
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) == refused.json()["error"]["data"][RETRY_KEY] >= 1
    assert refused.json()["error"]["message"].startswith("ada may make 1 calls per minute: try again in ")


async def test_daily_limit_is_a_429(tmp_path: Path) -> None:
    limited = client_with_token("ada", tokens_per_day=1000)
    statuses: list[int] = []

    async def record(response: httpx2.Response) -> None:
        statuses.append(response.status_code)

    async with (
        http_url(held_server(tmp_path, MemorySource(), make_config(limited))) as url,
        httpx2.AsyncClient(trust_env=False, headers=bearer("ada"), event_hooks={"response": [record]}) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        with pytest.raises(MCPError, match=r"ada has 1000 of its 1000 tokens left today: try again in \d+ seconds"):
            await client.call_tool("research", ARGUMENTS)
    assert statuses[-1] == 429


async def test_client_over_its_limits_does_not_block_another(tmp_path: Path) -> None:
    source = HeldSource()
    greedy, modest = (
        client_with_token("greedy", concurrent=1, queued=1, calls_per_minute=50),
        client_with_token("modest"),
    )
    replies: list[CallToolResult] = []
    async with (
        http_url(held_server(tmp_path, source, make_config(greedy, modest, concurrent=2, queued=2))) as url,
        client_for(url, "greedy") as many,
        client_for(url, "modest") as one,
        AsyncExitStack() as calls,
    ):
        for number in range(2):
            await calls.enter_async_context(pending_call(many, other_arguments(number), replies))
        await wait_for_fetch(source)
        for number in range(2, 10):
            with pytest.raises(MCPError, match=r"greedy already has \d calls waiting|per minute|the queue is full"):
                await many.call_tool("research", other_arguments(number))
        source.release.set()
        assert parse_reply(await one.call_tool("research", ARGUMENTS)).citations


async def test_flood_of_rejected_calls_does_not_affect_another_client(tmp_path: Path) -> None:
    greedy, modest = client_with_token("greedy", calls_per_minute=1), client_with_token("modest")
    refusals: list[str] = []
    async with (
        http_url(held_server(tmp_path, MemorySource(), make_config(greedy, modest))) as url,
        client_for(url, "greedy") as many,
        client_for(url, "modest") as one,
        anyio.create_task_group() as tasks,
    ):

        async def call(number: int) -> None:
            try:
                await many.call_tool("research", other_arguments(number))
            except MCPError as error:
                refusals.append(error.message)

        for number in range(10):
            for repetition in range(10):
                tasks.start_soon(call, 10 * number + repetition)
            assert parse_reply(await one.call_tool("research", other_arguments(number))).citations
    assert len(refusals) == 99
    assert all(line.startswith("greedy may make 1 calls per minute: try again in ") for line in refusals)


async def test_daily_tokens_include_active_runs_and_survive_restarts(tmp_path: Path) -> None:
    source, limited = HeldSource(), client_with_token("ada", tokens_per_day=30_000)
    replies: list[CallToolResult] = []
    async with (
        http_url(held_server(tmp_path, source, make_config(limited))) as url,
        client_for(url, "ada") as client,
        pending_call(client, ARGUMENTS, replies),
    ):
        await wait_for_fetch(source)
        with pytest.raises(MCPError, match="ada has 10000 of its 30000 tokens left today"):
            await client.call_tool("research", other_arguments(2))
        source.release.set()
    left = 30_000 - parse_reply(replies[0]).cost_metadata.tokens_used
    assert left < 30_000
    async with (
        http_url(held_server(tmp_path, source, make_config(limited))) as url,
        client_for(url, "ada") as client,
    ):
        with pytest.raises(MCPError, match=f"ada has {left} of its 30000 tokens left today"):
            await client.call_tool("research", {**other_arguments(2), "constraints": {"token_budget": left + 1}})
        assert parse_reply(await client.call_tool("research", other_arguments(2))).citations


async def test_token_budget_above_the_limit_per_call_is_rejected(tmp_path: Path) -> None:
    config = make_config(client_with_token("ada", tokens_per_call=5000))
    async with http_url(held_server(tmp_path, MemorySource(), config)) as url, client_for(url, "ada") as client:
        refused = await client.call_tool("research", ARGUMENTS)
        assert refused.is_error
        assert "constraints.token_budget may be at most 5000 for ada" in str(refused.content[0])
        assert parse_reply(await client.call_tool("research", {**ARGUMENTS, "depth": "shallow"})).citations


async def test_health_is_public_and_metrics_are_for_operators(tmp_path: Path) -> None:
    config = make_config(client_with_token("ada"), client_with_token("ops", operator=True))
    async with http_url(held_server(tmp_path, MemorySource(), config)) as url, client_for(url, "ada") as client:
        await client.call_tool("research", ARGUMENTS)
        await client.call_tool("research", ARGUMENTS)
        await client.call_tool("research", {"question": ""})
        health = await get(url, "/healthz")
        assert (health.status_code, health.text) == (200, "ok\n")
        assert (await get(url, "/metrics")).status_code == 401
        assert (await get(url, "/metrics", bearer("ada"))).status_code == 403
        assert (await get(url, "/metrics", {**bearer("ops"), "host": "attacker.example"})).status_code == 421
        metrics = await get(url, "/metrics", bearer("ops"))
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
from tests.mcp.held_source import HeldSource, make_config, held_server
from marchwarden.mcp.http_server import serve_http

async def main():
    source = HeldSource()
    server = held_server(Path(sys.argv[1]), source, make_config(drain=float(sys.argv[2])))
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
def killed_on_failure(process: Process) -> Iterator[None]:
    """Do not leave a waiting server behind if the test fails."""
    try:
        yield
    finally:
        if process.returncode is None:
            process.kill()


@pytest.mark.parametrize(
    ("drain", "signals", "is_released"),
    [("60", [signal.SIGTERM], True), ("60", [signal.SIGTERM, signal.SIGTERM], False), ("60", [signal.SIGINT], False)],
)
async def test_sigterm_drains_and_a_second_signal_stops_immediately(
    drain: str, signals: list[signal.Signals], is_released: bool, tmp_path: Path
) -> None:
    replies: list[CallToolResult] = []
    async with await anyio.open_process([sys.executable, "-c", DRAINING, str(tmp_path), drain]) as process:
        assert process.stdout is not None and process.stdin is not None
        output = BufferedByteReceiveStream(process.stdout)
        with anyio.fail_after(60), killed_on_failure(process):
            url = (await output.receive_until(b"\n", 1000)).decode()
            async with Client(url, mode="legacy") as client:
                # Otherwise the client requests the tool schema after the answer, when the server is gone.
                await client.list_tools()
                async with pending_call(client, ARGUMENTS, replies):
                    assert await output.receive_until(b"\n", 1000) == b"reached"
                    process.send_signal(signals[0])
                    if signals[0] is signal.SIGTERM:
                        assert await output.receive_until(b"\n", 1000) == b"draining"
                        assert (await get(url, "/healthz")).status_code == 503
                        async with Client(url) as late:
                            with pytest.raises(MCPError, match=r"the server is stopping: try again in \d+ seconds"):
                                await late.call_tool("research", other_arguments(2))
                    for second in signals[1:]:
                        process.send_signal(second)
                    if is_released:
                        await process.stdin.send(b"\n")
            await process.stdin.aclose()
            assert await process.wait() == 0
    (reply,) = replies
    assert reply.is_error is not is_released
    if not is_released:
        assert "the server is stopping; send the same request again to continue the run" in str(reply.content[0])


async def test_queued_call_gets_its_trace_id_in_the_progress(tmp_path: Path) -> None:
    source = HeldSource()
    replies: list[CallToolResult] = []
    messages: list[str] = []

    async def collect(progress: float, total: float | None, message: str | None) -> None:
        messages.append(message or "")
        source.release.set()

    async with (
        Client(held_server(tmp_path, source, make_config(concurrent=1))) as client,
        pending_call(client, ARGUMENTS, replies),
    ):
        await wait_for_fetch(source)
        with anyio.fail_after(60):
            second = parse_reply(await client.call_tool("research", other_arguments(2), progress_callback=collect))
    assert messages[0] == f"wait: in the queue (1 waiting) [iteration 0, 0 sources, trace {second.trace_id}]"


def test_clients_take_turns_in_the_queue() -> None:
    queue = FairQueue(concurrent=1, queued=10)
    ada, bob = ServiceClient("ada"), ServiceClient("bob")
    running = queue.enter(ada)
    tickets = [queue.enter(ada), queue.enter(ada), queue.enter(bob)]
    order = []
    while tickets:
        queue.leave(running)
        (running,) = [ticket for ticket in tickets if ticket.admitted.is_set()]
        tickets.remove(running)
        order.append(running.client.name)
    assert order == ["ada", "bob", "ada"]


def test_cancelled_call_leaves_the_queue() -> None:
    queue = FairQueue(concurrent=1, queued=1)
    queue.enter(ANONYMOUS)
    queue.leave(queue.enter(ANONYMOUS))
    assert (queue.running, queue.waiting) == (1, 0)
    queue.enter(ANONYMOUS)
    with pytest.raises(Busy, match="the queue is full: try again in 60 seconds"):
        queue.enter(ANONYMOUS)


def test_rate_limit_refills_with_time() -> None:
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
        ("[clients", "service.toml is not valid TOML: Expected"),
    ],
)
def test_invalid_service_file_is_a_clear_error(written: str, line: str, tmp_path: Path) -> None:
    path = tmp_path / "service.toml"
    path.write_text(written, encoding="utf-8")
    with pytest.raises(InvalidInput) as raised:
        ServiceConfig.load(path, {"TOKEN": "t", "EMPTY": ""})
    assert line in str(raised.value)
    assert "\n" not in str(raised.value)


def test_service_file_sets_limits_and_clients_and_stores_no_token(tmp_path: Path) -> None:
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
async def test_draining_waits_for_responses_but_not_for_event_streams(method: str, is_waited_for: bool) -> None:
    service, sent = Service(), anyio.Event()

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await sent.wait()

    scope = {"type": "http", "method": method, "path": "/mcp", "headers": []}
    drained = False

    async def drain() -> None:
        nonlocal drained
        await service.drain()
        drained = True

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(AuthMiddleware(application, service, ()), scope, unused, unused)
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(drain)
        await anyio.wait_all_tasks_blocked()
        assert drained is not is_waited_for
        sent.set()
    assert drained


async def unused(*_: object) -> Any:
    raise AssertionError("must not be called")
