"""Calls: what a server has at hand while it serves, for whatever answers a request of it."""

from dataclasses import dataclass

from mcp.server import ServerRequestContext

from marchwarden.mcp.call_store import CallStore
from marchwarden.mcp.runs import RunPool
from marchwarden.mcp.tasks import Tasks


@dataclass(frozen=True)
class ServerState:
    runs: RunPool
    ledger: CallStore
    tasks: Tasks


Context = ServerRequestContext[ServerState]
