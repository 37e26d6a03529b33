"""Calls: what a server has at hand while it serves, for whatever answers a request of it."""

from dataclasses import dataclass

from mcp.server import ServerRequestContext

from marchwarden.mcp.call_store import Ledger
from marchwarden.mcp.runs import Runs
from marchwarden.mcp.tasks import Tasks


@dataclass(frozen=True)
class Calls:
    runs: Runs
    ledger: Ledger
    tasks: Tasks


Context = ServerRequestContext[Calls]
