"""Exchange: what the door knows of an HTTP request and the desk behind it must learn, and the other way round."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from marchwarden.mcp.clients import ANONYMOUS, ServiceClient

PLACE: Final = "marchwarden.exchange"
"""Where a request's scope keeps it."""


@dataclass
class RequestContext:
    """Who calls; whether the call is counted already; and in how many seconds to come again, if it was refused."""

    caller: ServiceClient = ANONYMOUS
    is_counted: bool = False
    retry_after: int = 0


def request_context_of(request: object) -> RequestContext:
    """That of an HTTP request; on other transports there is no door, and anybody calls."""
    scope = getattr(request, "scope", None)
    kept = scope.get(PLACE) if isinstance(scope, Mapping) else None
    return kept if isinstance(kept, RequestContext) else RequestContext()
