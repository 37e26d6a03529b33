"""Context of a request: the state of the server, and the client that sent the request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mcp.server import ServerRequestContext

from marchwarden.mcp.clients import ANONYMOUS, ServiceClient

if TYPE_CHECKING:
    from marchwarden.mcp.call_store import CallStore
    from marchwarden.mcp.runs import RunPool
    from marchwarden.mcp.tasks import Tasks

SCOPE_KEY: Final = "marchwarden.request"
"""The key of the `RequestContext` in an ASGI scope."""


@dataclass(frozen=True)
class ServerState:
    """Objects that exist as long as the server runs."""

    runs: "RunPool"
    call_store: "CallStore"
    tasks: "Tasks"


Context = ServerRequestContext[ServerState]


@dataclass
class RequestContext:
    """Data that `AuthMiddleware` and the handler exchange.

    `is_counted`: the middleware has already counted the call. `retry_after`: seconds after which a
    refused call can be retried.
    """

    client: ServiceClient = ANONYMOUS
    is_counted: bool = False
    retry_after: int = 0


def request_context_of(request: object) -> RequestContext:
    """Return the context of an HTTP request. On other transports clients are anonymous."""
    scope = getattr(request, "scope", None)
    context = scope.get(SCOPE_KEY) if isinstance(scope, Mapping) else None
    return context if isinstance(context, RequestContext) else RequestContext()
