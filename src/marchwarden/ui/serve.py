"""Serve the browser interface on a port of this machine until a signal stops it. Does not know any researcher."""

import secrets
from collections.abc import Callable
from typing import Final

import anyio

from marchwarden.mcp.asgi import open_listener, serve_application
from marchwarden.ui.app import create_app
from marchwarden.ui.auth import TOKEN, AccessGuard
from marchwarden.ui.dependencies import UiDependencies
from marchwarden.ui.jobs import JobQueue
from marchwarden.ui.secret_path import SecretPath

HOST: Final = "127.0.0.1"


async def serve_page(dependencies: UiDependencies, port: int, announce: Callable[[str], None]) -> int:
    """Serve until a signal arrives. `announce` gets the address with its secret. Port 0 means any free port.

    Returns the number of questions that were still open. Their traces remain and can be resumed.
    """
    token, root = secrets.token_urlsafe(32), f"/{secrets.token_urlsafe(16)}"
    with open_listener(HOST, port) as listener:
        bound_port = listener.getsockname()[1]
        async with anyio.create_task_group() as runs:
            queue = JobQueue(runs)
            application = SecretPath(create_app(dependencies, queue), root)
            try:
                await serve_application(
                    AccessGuard(application, token, root, bound_port),
                    listener,
                    on_ready=lambda: announce(f"http://{HOST}:{bound_port}/?{TOKEN}={token}"),
                    on_stop=queue.close,
                )
            finally:
                unfinished = len(queue.open_jobs())
                runs.cancel_scope.cancel()
    return unfinished
