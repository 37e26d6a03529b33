"""Listening: an application on one socket until a signal asks to stop. Knows neither MCP nor what it serves."""

import logging
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Final

import anyio
import uvicorn
from starlette.types import ASGIApp

from marchwarden.errors import InvalidInput
from marchwarden.mcp.signals import stop_signal

BACKLOG: Final = 2048
LAST_WORDS_SEC: Final = 2


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket at this address; port 0 is any that is free."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        raise InvalidInput(
            f"cannot listen on {in_url(host)}:{port}: {error}; choose another address or port"
        ) from error
    with listener:
        # Asyncio sets this on sockets it opened itself; without it an answer waits 40 ms for an acknowledgement.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield listener


def in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


async def serve_application(
    application: ASGIApp,
    listener: socket.socket,
    *,
    there: Callable[[], None],
    leaving: Callable[[], None],
    until: Callable[[], Awaitable[None]] = stop_signal,
) -> None:
    """Serve until a signal or the caller ends it. `there` is told when it answers, `leaving` before the last words.

    `until` waits for what ends it, where that is more than a signal.
    """
    config = uvicorn.Config(
        application,
        ws="none",
        log_config=None,
        # Critical only: at the end uvicorn reports every connection it had to cut as an error with a stack trace.
        log_level=logging.CRITICAL,
        access_log=False,
        backlog=BACKLOG,
        server_header=False,
        proxy_headers=False,  # nothing here asks from where or over which scheme a call came
        timeout_graceful_shutdown=LAST_WORDS_SEC,
    )
    web = _Uvicorn(config, there)

    async def serve() -> None:
        # Shielded, because uvicorn cleans up only when asked to leave; its leaving is bounded by its own timeout.
        with anyio.CancelScope(shield=True):
            await web.serve(sockets=[listener])
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        try:
            await until()
        finally:
            leaving()
            web.should_exit = True


class _Uvicorn(uvicorn.Server):
    """Uvicorn that says when it listens and leaves signals to us: it would raise them again when it is done."""

    def __init__(self, config: uvicorn.Config, there: Callable[[], None]) -> None:
        super().__init__(config)
        self._there = there

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._there()
