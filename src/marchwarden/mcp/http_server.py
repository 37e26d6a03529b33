"""HTTP server: streamable HTTP on one socket, host checks, and a door before it. Knows no tool and no researcher."""

import ipaddress
import signal
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import anyio
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from marchwarden.errors import InvalidInput
from marchwarden.mcp.asgi import in_url, listening, serve_application
from marchwarden.mcp.auth import AuthMiddleware
from marchwarden.mcp.server import McpServer
from marchwarden.mcp.service import Service

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
    allowed_hosts: Sequence[str] = (),
    announce: Callable[[str], None] | None = None,
) -> None:
    """Serve until a signal asks to stop or the caller cancels.

    On SIGTERM no further call begins and those under way may end, as long as the service's terms allow; on SIGINT, on a
    second signal and after that they are cut short and their callers told. `announce` gets the URL once connections are
    accepted (port 0 picks a free one). `allowed_hosts` are the exact `Host` headers to answer
    (`research.example.org:8000`) besides those of the address itself.
    """
    service = server.service
    _refuse_an_open_door(host, allowed_hosts, is_guarded=bool(service.guests.callers))
    with listening(host, port) as listener:
        bound = listener.getsockname()[1]
        known = [*_own_hosts(host, bound), *allowed_hosts]
        url = f"http://{in_url('127.0.0.1' if host in _ANY_ADDRESS else host)}:{bound}{PATH}"
        await serve_application(
            AuthMiddleware(_application(server, known), service, known),
            listener,
            there=lambda: announce(url) if announce else None,
            leaving=service.stop,
            until=partial(_told_to_stop, service),
        )


async def _told_to_stop(service: Service) -> None:
    """Wait for a signal, and after a polite one for the work in hand. Only a main thread hears signals."""
    if threading.current_thread() is not threading.main_thread():
        await anyio.sleep_forever()
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        if await anext(signals) is not signal.SIGTERM:
            return
        async with anyio.create_task_group() as waiting:

            async def drain() -> None:
                await service.drain()
                waiting.cancel_scope.cancel()

            waiting.start_soon(drain)
            await anext(signals)
            waiting.cancel_scope.cancel()


def _application(server: McpServer, known: Sequence[str]) -> ASGIApp:
    origins = [f"{scheme}://{name}" for name in known for scheme in ("http", "https")]
    return server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=LARGEST_REQUEST,
        max_sessions=MOST_SESSIONS,
        transport_security=TransportSecuritySettings(allowed_hosts=list(known), allowed_origins=origins),
    )


def _refuse_an_open_door(host: str, allowed_hosts: Sequence[str], *, is_guarded: bool) -> None:
    if not _is_loopback(host) and not is_guarded:
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
