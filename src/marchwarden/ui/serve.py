"""Serving: the page on one port of this machine, until it is told to stop. Knows no researcher."""

import secrets
from collections.abc import Callable
from typing import Final

import anyio

from marchwarden.mcp.asgi import open_listener, serve_application
from marchwarden.ui.app import application
from marchwarden.ui.auth import TOKEN, Guard
from marchwarden.ui.dependencies import UiDependencies
from marchwarden.ui.jobs import JobQueue

HOST: Final = "127.0.0.1"


async def serve_page(house: UiDependencies, port: int, announce: Callable[[str], None]) -> int:
    """Serve until a signal asks to stop. `announce` gets the address with its secret once it answers; port 0 is any.

    Returns how many questions were under way then; their traces are as far as they came, and can be resumed.
    """
    token = secrets.token_urlsafe(32)
    with open_listener(HOST, port) as listener:
        bound = listener.getsockname()[1]
        async with anyio.create_task_group() as runs:
            desk = JobQueue(runs)
            try:
                await serve_application(
                    Guard(application(house, desk), token, bound),
                    listener,
                    on_ready=lambda: announce(f"http://{HOST}:{bound}/?{TOKEN}={token}"),
                    on_stop=desk.close,
                )
            finally:
                left = len(desk.under_way())
                runs.cancel_scope.cancel()
    return left
