"""Streamable HTTP: tokens, host checks, cancellation and shutdown."""

import json
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from marchwarden.errors import InvalidInput
from marchwarden.mcp import timed_protocol
from marchwarden.mcp.clients import ClientRegistry, ServiceConfig
from marchwarden.mcp.http_server import serve_http
from marchwarden.mcp.service import Service
from tests.mcp.held_source import held_server, http_url
from tests.mcp.scripted import TRACE_ID, AnsweringResearcher, EndlessResearcher, result, scripted_server, serving
from tests.world.memory import MemorySource

pytestmark = pytest.mark.slow

HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
HANDSHAKE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    },
}
DISCOVERY_HEADERS = {"mcp-protocol-version": "2026-07-28", "mcp-method": "server/discover"}
DISCOVERY = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "server/discover",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "by hand", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}
CALL = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "research", "arguments": {"question": "q"}, "_meta": {"progressToken": 1}},
}


def service_with_token(token: str) -> Service:
    return Service(ServiceConfig(registry=ClientRegistry.with_token(token)))


async def post(url: str, headers: dict[str, str] | None = None, content: bytes | None = None) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False) as http:
        body = json.dumps(HANDSHAKE).encode() if content is None else content
        return await http.post(url, headers={**HEADERS, **(headers or {})}, content=body)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_tool_and_trace_resource_work_over_http(mode: Any) -> None:
    async with serving(AnsweringResearcher()) as url, Client(url, mode=mode) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["research"]
        reply = await client.call_tool("research", {"question": "q"})
        assert reply.structured_content == result().model_dump(mode="json")
        assert (await client.read_resource(f"trace://{TRACE_ID}")).contents


async def test_missing_or_wrong_token_is_a_401() -> None:
    async with serving(AnsweringResearcher(), token="open sesame") as url:
        for headers in ({}, {"authorization": "Bearer open"}, {"authorization": "open sesame"}, {"authorization": ""}):
            refused = await post(url, headers)
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        assert (await post(url.removesuffix("/mcp"))).status_code == 401
        assert (await post(url, {"authorization": "bearer open sesame"})).status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:{port}", 200),
        ("localhost:{port}", 200),
        ("known.example:8000", 200),
        ("known.example:8001", 421),
        ("localhost", 421),
        ("localhost:{port}.attacker.example", 421),
        ("127.0.0.1:1", 421),
        ("attacker.example:{port}", 421),
    ],
)
async def test_only_exact_host_headers_are_accepted(host: str, status: int) -> None:
    async with serving(AnsweringResearcher(), allowed_hosts=["known.example:8000"]) as url:
        answer = await post(url, {"host": host.format(port=httpx2.URL(url).port)})
    assert answer.status_code == status


async def test_other_origins_are_rejected() -> None:
    async with serving(AnsweringResearcher()) as url:
        assert (await post(url, {"origin": "http://attacker.example"})).status_code == 403
        assert (await post(url, {"origin": url.removesuffix("/mcp")})).status_code == 200


async def test_oversized_body_is_rejected() -> None:
    async with serving(AnsweringResearcher()) as url:
        assert (await post(url, content=b" " * (1 << 18) + b" ")).status_code == 413


@pytest.mark.parametrize("content_type", ["application/jsonx", "application/json-seq", "text/plain", ""])
@pytest.mark.parametrize(("headers", "message"), [({}, HANDSHAKE), (DISCOVERY_HEADERS, DISCOVERY)])
async def test_other_content_types_are_rejected(
    content_type: str, headers: dict[str, str], message: dict[str, Any]
) -> None:
    content = json.dumps(message).encode()
    async with serving(AnsweringResearcher()) as url:
        assert (await post(url, {**headers, "content-type": content_type}, content)).status_code == 415
        for json_type in ("application/json; charset=utf-8", "Application/JSON", "application/json ;x"):
            assert (await post(url, {**headers, "content-type": json_type}, content)).status_code == 200


async def test_error_for_an_unknown_trace_does_not_reveal_the_folder(tmp_path: Path) -> None:
    async with (
        http_url(held_server(tmp_path / "secret-place", MemorySource())) as url,
        Client(url) as client,
    ):
        for name in (TRACE_ID, "../../etc/passwd", "x" * 9_000):
            for scheme in ("trace", "result"):
                with pytest.raises(MCPError, match="has no trace") as caught:
                    await client.read_resource(f"{scheme}://{name}")
                assert "secret-place" not in f"{caught.value} {caught.value.error.data}"


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST /mcp HT",
        b"POST /mcp HTTP/1.1\r\nHost: {host}\r\nX-Half: ",
        b"POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{",
        b"GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\nGET /healthz HT",
    ],
)
async def test_half_sent_request_is_disconnected_and_a_long_response_is_not(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timed_protocol, "REQUEST_SEC", 0.2)
    researcher = EndlessResearcher()
    async with (
        serving(researcher) as url,
        httpx2.AsyncClient(trust_env=False, headers=HEADERS) as http,
    ):
        session = (await http.post(url, json=HANDSHAKE)).headers["mcp-session-id"]
        async with http.stream("POST", url, json=CALL, headers={"mcp-session-id": session}) as stream:
            updates = stream.aiter_lines()
            await anext(updates)
            await expect_disconnect(url, sent)
            assert not researcher.stopped.is_set()


async def expect_disconnect(url: str, sent: bytes) -> None:
    """Send a part of a request and wait until the server closes the connection."""
    address = httpx2.URL(url)
    async with await anyio.connect_tcp("127.0.0.1", address.port or 0) as connection:
        await connection.send(sent.replace(b"{host}", address.netloc))
        with anyio.fail_after(60), suppress(anyio.BrokenResourceError):
            async for _ in connection:
                continue


async def test_lone_surrogate_is_a_parse_error() -> None:
    async with serving(AnsweringResearcher()) as url, httpx2.AsyncClient(trust_env=False, headers=HEADERS) as http:
        session = (await http.post(url, json=HANDSHAKE)).headers["mcp-session-id"]
        body = json.dumps(CALL).replace('"q"', '"\\ud800"')
        refused = await http.post(url, content=body, headers={"mcp-session-id": session})
    assert refused.status_code == 400
    assert "Parse error" in refused.text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_cancelling_a_call_stops_the_researcher(mode: Any) -> None:
    researcher = EndlessResearcher()
    async with serving(researcher) as url, Client(url, mode=mode) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "research", {"question": "q"})
            with anyio.fail_after(120):
                await researcher.started.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(120):
            await researcher.stopped.wait()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_stopping_server_ends_active_calls_and_tells_their_clients(mode: Any) -> None:
    researcher, replies = EndlessResearcher(), []

    async with httpx2.AsyncClient(trust_env=False) as http, anyio.create_task_group() as tasks:
        async with serving(researcher) as url:

            async def ask() -> None:
                async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
                    replies.append(await client.call_tool("research", {"question": "q"}))

            tasks.start_soon(ask)
            with anyio.fail_after(120):
                await researcher.started.wait()
        assert researcher.stopped.is_set()
    assert replies[0].is_error
    assert "the server is stopping" in str(replies[0].content[0])


@pytest.mark.parametrize(
    ("host", "token", "line"),
    [
        ("0.0.0.0", "", "other machines can reach 0.0.0.0: set a token, or listen on 127.0.0.1"),
        ("192.0.2.1", "", "other machines can reach 192.0.2.1: set a token, or listen on 127.0.0.1"),
        ("example.org", "", "other machines can reach example.org: set a token, or listen on 127.0.0.1"),
        ("0.0.0.0", "t", "listening on 0.0.0.0 needs the host names clients use"),
    ],
)
async def test_public_address_without_token_or_host_names_is_rejected(host: str, token: str, line: str) -> None:
    with pytest.raises(InvalidInput, match=line):
        await serve_http(scripted_server(AnsweringResearcher(), service_with_token(token) if token else None), host, 0)


def test_empty_token_is_rejected() -> None:
    with pytest.raises(InvalidInput, match="the token is empty"):
        service_with_token(" ")


async def test_wildcard_address_accepts_only_the_named_hosts() -> None:
    async with serving(AnsweringResearcher(), host="0.0.0.0", token="t", allowed_hosts=["known.example:1"]) as url:
        token = {"authorization": "Bearer t"}
        assert (await post(url, {**token, "host": "attacker.example"})).status_code == 421
        assert (await post(url, {**token, "host": "known.example:1"})).status_code == 200
        assert (await post(url, token)).status_code == 200


async def test_port_in_use_is_a_clear_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidInput, match=f"cannot listen on 127.0.0.1:{port}: .*in use"):
            await serve_http(scripted_server(AnsweringResearcher()), "127.0.0.1", port)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
async def test_signal_stops_the_server_cleanly(sent: signal.Signals) -> None:
    script = (
        "import anyio, functools\n"
        "from marchwarden.mcp.http_server import serve_http\n"
        "from marchwarden.mcp.clients import ServiceConfig, ServiceLimits\n"
        "from marchwarden.mcp.service import Service\n"
        "from tests.mcp.scripted import EndlessResearcher, scripted_server\n"
        "say = functools.partial(print, flush=True)\n"
        "server = scripted_server(EndlessResearcher(), Service(ServiceConfig(ServiceLimits(drain=0))))\n"
        "anyio.run(functools.partial(serve_http, server, '127.0.0.1', 0, announce=say))\n"
    )
    async with await anyio.open_process([sys.executable, "-c", script]) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        with anyio.fail_after(120):
            url = (await process.stdout.receive()).decode().strip()
            async with httpx2.AsyncClient(trust_env=False, headers=HEADERS) as http:
                session = (await http.post(url, json=HANDSHAKE)).headers["mcp-session-id"]
                async with http.stream("POST", url, json=CALL, headers={"mcp-session-id": session}) as stream:
                    await anext(stream.aiter_bytes())
                    process.send_signal(sent)
                    with pytest.raises(anyio.EndOfStream):
                        await process.stderr.receive()
            assert await process.wait() == 0
