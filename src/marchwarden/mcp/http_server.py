"""Serve an MCP server over streamable HTTP, with host checks. Does not know the tool or a researcher."""

import ipaddress
import signal
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import anyio
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from marchwarden.errors import InvalidInput
from marchwarden.mcp.asgi import bracketed, open_listener, serve_application
from marchwarden.mcp.auth import AuthMiddleware
from marchwarden.mcp.server import McpServer
from marchwarden.mcp.service import Service

PATH: Final = "/mcp"
JSON: Final = "application/json"
MAX_REQUEST_BYTES: Final = 1 << 18
MAX_SESSIONS: Final = 1000
_ANY_ADDRESS: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - only compared; binding to it needs a token
_HTTP_PORT: Final = 80


async def serve_http(
    server: McpServer,
    host: str,
    port: int,
    *,
    allowed_hosts: Sequence[str] = (),
    announce: Callable[[str], None] | None = None,
) -> None:
    """Serve until a signal arrives or the caller cancels.

    On SIGTERM the server rejects new calls and waits for the active ones, at most `ServiceLimits.drain` seconds. After
    that, on SIGINT and on a second signal, it stops them and tells their clients. `announce` gets the URL when
    connections are accepted (port 0 picks a free port). `allowed_hosts` are further `Host` headers to accept, such as
    `research.example.org:8000`; those of the address itself are always accepted.
    """
    service = server.service
    _check_exposure(host, allowed_hosts, has_tokens=bool(service.registry.clients))
    with open_listener(host, port) as listener:
        bound_port = listener.getsockname()[1]
        hosts = [*_own_hosts(host, bound_port), *allowed_hosts]
        url = f"http://{bracketed('127.0.0.1' if host in _ANY_ADDRESS else host)}:{bound_port}{PATH}"
        await serve_application(
            AuthMiddleware(_build_application(server, hosts), service, hosts),
            listener,
            on_ready=lambda: announce(url) if announce else None,
            on_stop=service.stop,
            until=partial(_drain_on_signal, service),
        )


async def _drain_on_signal(service: Service) -> None:
    """Wait for a signal, and after SIGTERM for the active calls. Only the main thread gets signals."""
    if threading.current_thread() is not threading.main_thread():
        await anyio.sleep_forever()
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        if await anext(signals) is not signal.SIGTERM:
            return
        async with anyio.create_task_group() as tasks:

            async def drain() -> None:
                await service.drain()
                tasks.cancel_scope.cancel()

            tasks.start_soon(drain)
            await anext(signals)
            tasks.cancel_scope.cancel()


def _build_application(server: McpServer, hosts: Sequence[str]) -> ASGIApp:
    origins = [f"{scheme}://{name}" for name in hosts for scheme in ("http", "https")]
    application = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MAX_REQUEST_BYTES,
        max_sessions=MAX_SESSIONS,
        transport_security=TransportSecuritySettings(allowed_hosts=list(hosts), allowed_origins=origins),
    )

    async def only_json(scope: Scope, receive: Receive, send: Send) -> None:
        """Reject other content types. The SDK accepts those that only begin like JSON, such as application/jsonx."""
        if scope["type"] == "http" and scope["method"] == "POST":
            if _media_type(scope) != JSON:
                await PlainTextResponse(f"the content type must be {JSON}\n", 415)(scope, receive, send)
                return
            # The SDK knows it in lower case only.
            scope = {**scope, "headers": [*scope["headers"]]}
            MutableHeaders(scope=scope)["content-type"] = JSON
        await application(scope, receive, send)

    return only_json


def _media_type(scope: Scope) -> str:
    return Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()


def _check_exposure(host: str, allowed_hosts: Sequence[str], *, has_tokens: bool) -> None:
    if not _is_loopback(host) and not has_tokens:
        raise InvalidInput(f"other machines can reach {host}: set a token, or listen on 127.0.0.1")
    if host in _ANY_ADDRESS and not allowed_hosts:
        raise InvalidInput(f"listening on {host} needs the host names clients use, such as research.example.org:8000")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _own_hosts(host: str, port: int) -> list[str]:
    names = ["127.0.0.1", "localhost", "[::1]"] if _is_loopback(host) or host in _ANY_ADDRESS else []
    names = list(dict.fromkeys([*names, *([] if host in _ANY_ADDRESS else [bracketed(host)])]))
    return [*(f"{name}:{port}" for name in names), *(names if port == _HTTP_PORT else [])]
