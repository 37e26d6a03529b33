"""Serving: the page on one port of this machine, until it is told to stop. Knows no researcher."""

import logging
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import anyio
import uvicorn

from marchwarden.errors import InvalidInput
from marchwarden.ui.application import application
from marchwarden.ui.desk import Desk
from marchwarden.ui.guarding import TOKEN, Guard
from marchwarden.ui.house import House
from marchwarden.wire.stopping import stop_signal

HOST: Final = "127.0.0.1"
LAST_WORDS_SEC: Final = 2


async def serve_page(house: House, port: int, announce: Callable[[str], None]) -> int:
    """Serve until a signal asks to stop. `announce` gets the address with its secret once it answers; port 0 is any.

    Returns how many questions were under way then; their traces are as far as they came, and can be resumed.
    """
    token = secrets.token_urlsafe(32)
    with _listening(port) as listener:
        bound = listener.getsockname()[1]
        async with anyio.create_task_group() as runs:
            desk = Desk(runs)
            web = _Uvicorn(
                uvicorn.Config(
                    Guard(application(house, desk), token, bound),
                    ws="none",
                    log_config=None,
                    # At the end uvicorn reports every connection it had to cut as an error with a stack trace.
                    log_level=logging.CRITICAL,
                    access_log=False,
                    server_header=False,
                    timeout_graceful_shutdown=LAST_WORDS_SEC,
                ),
                lambda: announce(f"http://{HOST}:{bound}/?{TOKEN}={token}"),
            )
            try:
                await _run(web, listener, desk)
            finally:
                left = len(desk.under_way())
                runs.cancel_scope.cancel()
    return left


async def _run(web: "_Uvicorn", listener: socket.socket, desk: Desk) -> None:
    async def serve() -> None:
        # Shielded, because uvicorn cleans up only when asked to leave; its leaving is bounded by its own timeout.
        with anyio.CancelScope(shield=True):
            await web.serve(sockets=[listener])
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        try:
            await stop_signal()
        finally:
            desk.close()
            web.should_exit = True


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    try:
        listener = socket.create_server((HOST, port))
    except (OSError, OverflowError) as error:
        raise InvalidInput(f"cannot listen on {HOST}:{port}: {error}; choose another with --port") from error
    with listener:
        # Asyncio sets this on sockets it opened itself; without it an answer waits 40 ms for an acknowledgement.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield listener


class _Uvicorn(uvicorn.Server):
    """Uvicorn that says when it listens and leaves signals to us: it would raise them again when it is done."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening = listening

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening()
