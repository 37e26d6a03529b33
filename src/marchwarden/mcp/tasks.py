"""Tasks: the MCP extension by which a call is answered at once and its result fetched later (SEP-2663).

A task is a caller's claim on a run. It is on the disk before its id is told, it is found by whoever made it and nobody
else, and it outlives connections and servers. Knows no researcher.
"""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

import anyio
from anyio import to_thread
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    EmptyResult,
    RequestParams,
    Result,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from marchwarden.mcp.call_store import CallStore, StoredTask
from marchwarden.mcp.clients import ServiceClient
from marchwarden.mcp.outcome import CallOutcome
from marchwarden.mcp.protocol import format_progress
from marchwarden.mcp.request_context import request_context_of
from marchwarden.mcp.responses import broken, told
from marchwarden.mcp.run import SharedRun
from marchwarden.mcp.runs import RunPool
from marchwarden.mcp.usage import UsageTracker
from marchwarden.text.sanitize import one_line

EXTENSION: Final = "io.modelcontextprotocol/tasks"
NAME_HEADER: Final = "mcp-name"
ID_BYTES: Final = 32
POLL_MS: Final = 2_000

Context = ServerRequestContext[Any, Any]
Status = Literal["working", "completed", "failed", "cancelled"]


class TaskParams(RequestParams):
    """Which task; what a client answers to questions is not read, because a researcher asks none."""

    task_id: str


class TaskTold(Result):
    """A task as its caller sees it; while it has no outcome, `result` and `error` are absent."""

    result_type: Literal["task", "complete"]
    task_id: str
    status: Status
    status_message: str | None = None
    created_at: str
    last_updated_at: str
    ttl_ms: int
    poll_interval_ms: int = POLL_MS
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


@dataclass(frozen=True)
class Tasks:
    """The tasks of one server. `seconds` is how long each can be asked for."""

    runs: RunPool
    books: UsageTracker
    ledger: CallStore
    seconds: float

    async def open(self, caller: ServiceClient, run: SharedRun) -> TaskTold:
        """Raises `StorageError` where it cannot be kept: then it must not be promised."""
        task_id = secrets.token_urlsafe(ID_BYTES)

        def keep() -> StoredTask | None:
            self.ledger.open_task(task_id, caller.name, self.books.entry_of(run), self.seconds)
            return self.ledger.task(task_id, caller.name)

        with anyio.CancelScope(shield=True):
            entry = await to_thread.run_sync(keep)
        assert entry is not None
        return _told("task", task_id, entry, "working", _doing(run))

    async def get(self, caller: ServiceClient, task_id: str) -> TaskTold:
        entry = self._found(caller, task_id)
        if entry.cancelled is not None:
            return _told("complete", task_id, entry, "cancelled", "its caller gave it up")
        if entry.run.outcome is not None:
            return _ended(task_id, entry, CallOutcome.recalled(entry.run.outcome))
        run = self.runs.under_way(entry.run) or await self._revived(caller, task_id, entry)
        if run.outcome is not None and run.outcome.is_final:
            return _ended(task_id, entry, run.outcome)
        return _told("complete", task_id, entry, "working", _doing(run))

    def cancel(self, caller: ServiceClient, task_id: str) -> None:
        """Give the task up; a task that is over stays as it is."""
        entry = self._found(caller, task_id)
        if entry.cancelled is not None or entry.run.outcome is not None:
            return
        self.ledger.cancel_task(task_id)
        run = self.runs.under_way(entry.run)
        if run is not None:
            self.runs.leave(run)

    def update(self, caller: ServiceClient, task_id: str) -> None:
        self._found(caller, task_id)

    def _found(self, caller: ServiceClient, task_id: str) -> StoredTask:
        entry = self.ledger.task(task_id, caller.name)
        if entry is None:
            raise MCPError(INVALID_PARAMS, "there is no task of that id")
        return entry

    async def _revived(self, caller: ServiceClient, task_id: str, entry: StoredTask) -> SharedRun:
        """The server that had begun it is gone; what that one left is gone on with."""
        run = self.runs.revive(caller, entry.run)
        await run.accepted.wait()
        if run.entry is not None and run.entry != entry.run.id:
            self.ledger.follow(task_id, run.entry)
        return run


def offer_tasks(server: Server[Any]) -> None:
    """Let a server advertise the extension and answer its methods."""

    async def get(context: Context, params: TaskParams) -> TaskTold:
        _refuse_the_unready(context, params)
        return await _tasks_of(context).get(request_context_of(context.request).caller, params.task_id)

    async def cancel(context: Context, params: TaskParams) -> EmptyResult:
        _refuse_the_unready(context, params)
        _tasks_of(context).cancel(request_context_of(context.request).caller, params.task_id)
        return EmptyResult()

    async def update(context: Context, params: TaskParams) -> EmptyResult:
        _refuse_the_unready(context, params)
        _tasks_of(context).update(request_context_of(context.request).caller, params.task_id)
        return EmptyResult()

    server.extensions[EXTENSION] = {}
    server.add_request_handler("tasks/get", TaskParams, get)
    server.add_request_handler("tasks/cancel", TaskParams, cancel)
    server.add_request_handler("tasks/update", TaskParams, update)


def _tasks_of(context: Context) -> Tasks:
    tasks = context.lifespan_context.tasks
    assert isinstance(tasks, Tasks)
    return tasks


def speaks_tasks(context: Context) -> bool:
    """Whether this request says that a task may be the answer to it."""
    capabilities = context.session.client_capabilities
    declared = (capabilities.extensions if capabilities else None) or {}
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS and EXTENSION in declared


def _refuse_the_unready(context: Context, params: TaskParams) -> None:
    if not speaks_tasks(context):
        needed: dict[str, Any] = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, f"this needs the extension {EXTENSION}", needed)
    headers = getattr(context.request, "headers", {})
    if headers.get(NAME_HEADER, params.task_id) != params.task_id:
        raise MCPError(HEADER_MISMATCH, f"the header {NAME_HEADER} does not match the task's id")


def _ended(task_id: str, entry: StoredTask, outcome: CallOutcome) -> TaskTold:
    error = broken(outcome)
    if error is not None:
        wrong = error.model_dump(by_alias=True, exclude_none=True)
        return _told("complete", task_id, entry, "failed", outcome.told, error=wrong)
    result = told(outcome).model_dump(mode="json", by_alias=True, exclude_none=True)
    return _told("complete", task_id, entry, "completed", None, result=result)


def _told(
    kind: Literal["task", "complete"],
    task_id: str,
    entry: StoredTask,
    status: Status,
    message: str | None,
    result: dict[str, Any] | None = None,
    error: dict[str, Any] | None = None,
) -> TaskTold:
    return TaskTold(
        result_type=kind,
        task_id=task_id,
        status=status,
        status_message=one_line(message, 300) if message else None,
        created_at=_iso(entry.began),
        last_updated_at=_iso(max(entry.began, entry.run.at, entry.cancelled or 0.0)),
        ttl_ms=round(entry.seconds * 1000),
        result=result,
        error=error,
    )


def _doing(run: SharedRun) -> str:
    if run.latest is not None:
        return format_progress(run.latest)
    return f"waiting for a place [trace {run.trace_id}]" if run.trace_id else "waiting for a place"


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
