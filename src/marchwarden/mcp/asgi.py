"""Serve an ASGI application on one socket until a signal arrives. Does not know MCP or the application."""

import logging
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Final

import anyio
import uvicorn
from starlette.types import ASGIApp

from marchwarden.errors import InvalidInput
from marchwarden.mcp.timed_protocol import TimedProtocol

BACKLOG: Final = 2048
SHUTDOWN_SEC: Final = 2


async def wait_for_stop_signal() -> None:
    """Wait for SIGINT or SIGTERM. Only the main thread gets signals; cancel it in other threads."""
    if threading.current_thread() is not threading.main_thread():
        await anyio.sleep_forever()
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            return


@contextmanager
def open_listener(host: str, port: int) -> Iterator[socket.socket]:
    """Open a listening socket. Port 0 picks a free port."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        raise InvalidInput(
            f"cannot listen on {bracketed(host)}:{port}: {error}; choose another address or port"
        ) from error
    with listener:
        # asyncio does this only for sockets it opened itself. Without it, responses wait 40 ms for an acknowledgement.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield listener


def bracketed(host: str) -> str:
    """Return the host as it appears in a URL, with brackets around an IPv6 address."""
    return f"[{host}]" if ":" in host else host


async def serve_application(
    application: ASGIApp,
    listener: socket.socket,
    *,
    on_ready: Callable[[], None],
    on_stop: Callable[[], None],
    until: Callable[[], Awaitable[None]] = wait_for_stop_signal,
) -> None:
    """Serve until `until` returns or the caller cancels.

    Calls `on_ready` when connections are accepted, and `on_stop` before open connections get their last responses.
    """
    config = uvicorn.Config(
        application,
        http=TimedProtocol,
        ws="none",
        log_config=None,
        # On shutdown uvicorn logs every connection it closes as an error with a stack trace.
        log_level=logging.CRITICAL,
        access_log=False,
        backlog=BACKLOG,
        server_header=False,
        proxy_headers=False,  # the address and scheme of a client are not used
        timeout_graceful_shutdown=SHUTDOWN_SEC,
    )
    server = _UvicornServer(config, on_ready)

    async def serve() -> None:
        # Shielded, because uvicorn cleans up only if `should_exit` is set. It limits its own shutdown.
        with anyio.CancelScope(shield=True):
            await server.serve(sockets=[listener])
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        try:
            await until()
        finally:
            on_stop()
            server.should_exit = True


class _UvicornServer(uvicorn.Server):
    """Calls `on_ready`, and does not handle signals: uvicorn would raise them again at the end."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()
