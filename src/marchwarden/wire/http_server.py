"""HTTP server: streamable HTTP on one socket, with host checks and a token. Knows no tool and no researcher."""

import hashlib
import hmac
import ipaddress
from collections.abc import Callable, Sequence
from typing import Final

import anyio
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from marchwarden.errors import InvalidInput
from marchwarden.wire.listening import in_url, listening, serve_application
from marchwarden.wire.server import McpServer
from marchwarden.wire.vocabulary import CALLER_GONE

PATH: Final = "/mcp"
LARGEST_REQUEST: Final = 1 << 18
MOST_SESSIONS: Final = 1000
_ANY_ADDRESS: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, and refused without a token
_HTTP_PORT: Final = 80


async def serve_http(
    server: McpServer,
    host: str,
    port: int,
    *,
    token: str | None = None,
    allowed_hosts: Sequence[str] = (),
    announce: Callable[[str], None] | None = None,
) -> None:
    """Serve until a signal asks to stop or the caller cancels; the work in hand is ended, its callers are told.

    `announce` gets the URL once connections are accepted (port 0 picks a free one). `allowed_hosts` are the exact
    `Host` headers to answer (`research.example.org:8000`) besides those of the address itself.
    """
    _refuse_an_open_door(host, token, allowed_hosts)
    with listening(host, port) as listener:
        bound = listener.getsockname()[1]
        known = [*_own_hosts(host, bound), *allowed_hosts]
        calls = _Calls(_application(server, known))
        url = f"http://{in_url('127.0.0.1' if host in _ANY_ADDRESS else host)}:{bound}{PATH}"
        await serve_application(
            calls if token is None else _Guard(calls, token),
            listener,
            there=lambda: announce(url) if announce else None,
            leaving=calls.abandon,
        )


def _application(server: McpServer, known: Sequence[str]) -> ASGIApp:
    origins = [f"{scheme}://{name}" for name in known for scheme in ("http", "https")]
    return server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=LARGEST_REQUEST,
        max_sessions=MOST_SESSIONS,
        transport_security=TransportSecuritySettings(allowed_hosts=list(known), allowed_origins=origins),
    )


def _refuse_an_open_door(host: str, token: str | None, allowed_hosts: Sequence[str]) -> None:
    if token is not None and not token.strip():
        raise InvalidInput("the token is empty")
    if not _is_loopback(host) and token is None:
        raise InvalidInput(f"{host} can be reached from other machines: set a token, or listen on 127.0.0.1")
    if host in _ANY_ADDRESS and not allowed_hosts:
        raise InvalidInput(f"listening on {host} needs the host names callers use, such as research.example.org:8000")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _own_hosts(host: str, port: int) -> list[str]:
    names = ["127.0.0.1", "localhost", "[::1]"] if _is_loopback(host) or host in _ANY_ADDRESS else []
    names = list(dict.fromkeys([*names, *([] if host in _ANY_ADDRESS else [in_url(host)])]))
    return [*(f"{name}:{port}" for name in names), *(names if port == _HTTP_PORT else [])]


class _Calls:
    """Tells the handler of each request when nobody waits for its answer any more."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application
        self._open: set[anyio.Event] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        gone = anyio.Event()

        async def watched() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":
                gone.set()
            return message

        self._open.add(gone)
        try:
            await self._application({**scope, CALLER_GONE: gone}, watched, send)
        finally:
            self._open.discard(gone)

    def abandon(self) -> None:
        for gone in self._open:
            gone.set()


class _Guard:
    """Lets through who shows the token; everybody else gets a 401 whatever they ask."""

    def __init__(self, application: ASGIApp, token: str) -> None:
        self._application = application
        self._expected = _digest(f"Bearer {token}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._admits(Headers(scope=scope).get("authorization", "")):
            refusal = PlainTextResponse("a bearer token is required\n", 401, {"WWW-Authenticate": "Bearer"})
            await refusal(scope, receive, send)
            return
        await self._application(scope, receive, send)

    def _admits(self, shown: str) -> bool:
        scheme, _, token = shown.partition(" ")
        return hmac.compare_digest(_digest(f"{scheme.capitalize()} {token.strip()}"), self._expected)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
