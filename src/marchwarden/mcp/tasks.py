"""The MCP tasks extension (SEP-2663): a call returns a task immediately, and the client fetches the result later.

A task refers to a run. It is on disk before its id is sent, only its client can read it, and it survives connections
and server restarts. Does not know a researcher.
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
from marchwarden.mcp.request_context import Context, ServerState, request_context_of
from marchwarden.mcp.runs import RunPool, SharedRun
from marchwarden.mcp.usage import UsageTracker
from marchwarden.text.sanitize import one_line

EXTENSION: Final = "io.modelcontextprotocol/tasks"
NAME_HEADER: Final = "mcp-name"
ID_BYTES: Final = 32
POLL_MS: Final = 2_000

Status = Literal["working", "completed", "failed", "cancelled"]


class TaskParams(RequestParams):
    """The id of a task. Input responses of the client are ignored, because a researcher asks no questions."""

    task_id: str


class TaskState(Result):
    """A task as its client sees it. `result` and `error` are absent until it has ended."""

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
    """The tasks of one server. Each can be fetched for `ttl_sec` seconds."""

    runs: RunPool
    usage: UsageTracker
    call_store: CallStore
    ttl_sec: float

    async def create(self, client: ServiceClient, run: SharedRun) -> TaskState:
        """Store a task for the run. Raises `StorageError`; then the client must not get a task."""
        task_id = secrets.token_urlsafe(ID_BYTES)

        def store() -> StoredTask | None:
            self.call_store.insert_task(task_id, client.name, self.usage.ensure_stored(run), self.ttl_sec)
            return self.call_store.find_task(task_id, client.name)

        with anyio.CancelScope(shield=True):
            task = await to_thread.run_sync(store)
        assert task is not None
        return _build_state("task", task_id, task, "working", _describe_progress(run))

    async def get(self, client: ServiceClient, task_id: str) -> TaskState:
        task = self._find(client, task_id)
        if task.cancelled is not None:
            return _build_state("complete", task_id, task, "cancelled", "cancelled by its client")
        if task.run.outcome is not None:
            return _build_final_state(task_id, task, CallOutcome.from_json(task.run.outcome))
        run = self.runs.find_active(task.run) or await self._resume(client, task_id, task)
        if run.outcome is not None and run.outcome.is_final:
            return _build_final_state(task_id, task, run.outcome)
        return _build_state("complete", task_id, task, "working", _describe_progress(run))

    def cancel(self, client: ServiceClient, task_id: str) -> None:
        """Cancel the task unless it has ended."""
        task = self._find(client, task_id)
        if task.cancelled is not None or task.run.outcome is not None:
            return
        self.call_store.cancel_task(task_id)
        run = self.runs.find_active(task.run)
        if run is not None:
            self.runs.leave(run)

    def update(self, client: ServiceClient, task_id: str) -> None:
        """Check that the task exists. There is nothing to update."""
        self._find(client, task_id)

    def _find(self, client: ServiceClient, task_id: str) -> StoredTask:
        task = self.call_store.find_task(task_id, client.name)
        if task is None:
            raise MCPError(INVALID_PARAMS, "there is no task with that id")
        return task

    async def _resume(self, client: ServiceClient, task_id: str, task: StoredTask) -> SharedRun:
        """Continue a run that was interrupted, for example because its server stopped."""
        run = self.runs.resume(client, task.run)
        await run.accepted.wait()
        if run.stored_id is not None and run.stored_id != task.run.id:
            self.call_store.set_task_run(task_id, run.stored_id)
        return run


def add_task_handlers(server: Server[ServerState]) -> None:
    """Make a server advertise the extension and handle its methods."""

    async def get(context: Context, params: TaskParams) -> TaskState:
        _check_request(context, params)
        client = request_context_of(context.request).client
        return await context.lifespan_context.tasks.get(client, params.task_id)

    async def cancel(context: Context, params: TaskParams) -> EmptyResult:
        _check_request(context, params)
        context.lifespan_context.tasks.cancel(request_context_of(context.request).client, params.task_id)
        return EmptyResult()

    async def update(context: Context, params: TaskParams) -> EmptyResult:
        _check_request(context, params)
        context.lifespan_context.tasks.update(request_context_of(context.request).client, params.task_id)
        return EmptyResult()

    server.extensions[EXTENSION] = {}
    server.add_request_handler("tasks/get", TaskParams, get)
    server.add_request_handler("tasks/cancel", TaskParams, cancel)
    server.add_request_handler("tasks/update", TaskParams, update)


def accepts_tasks(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether the client of this request declared that it supports tasks."""
    capabilities = context.session.client_capabilities
    declared = (capabilities.extensions if capabilities else None) or {}
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS and EXTENSION in declared


def _check_request(context: Context, params: TaskParams) -> None:
    if not accepts_tasks(context):
        needed: dict[str, Any] = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, f"this needs the extension {EXTENSION}", needed)
    headers = getattr(context.request, "headers", {})
    if headers.get(NAME_HEADER, params.task_id) != params.task_id:
        raise MCPError(HEADER_MISMATCH, f"the header {NAME_HEADER} does not match the task id")


def _build_final_state(task_id: str, task: StoredTask, outcome: CallOutcome) -> TaskState:
    error = outcome.to_internal_error()
    if error is not None:
        details = error.model_dump(by_alias=True, exclude_none=True)
        return _build_state("complete", task_id, task, "failed", outcome.text, error=details)
    result = outcome.to_tool_result().model_dump(mode="json", by_alias=True, exclude_none=True)
    return _build_state("complete", task_id, task, "completed", None, result=result)


def _build_state(
    kind: Literal["task", "complete"],
    task_id: str,
    task: StoredTask,
    status: Status,
    message: str | None,
    result: dict[str, Any] | None = None,
    error: dict[str, Any] | None = None,
) -> TaskState:
    return TaskState(
        result_type=kind,
        task_id=task_id,
        status=status,
        status_message=one_line(message, 300) if message else None,
        created_at=_to_iso(task.began),
        last_updated_at=_to_iso(max(task.began, task.run.at, task.cancelled or 0.0)),
        ttl_ms=round(task.seconds * 1000),
        result=result,
        error=error,
    )


def _describe_progress(run: SharedRun) -> str:
    if run.latest is not None:
        return format_progress(run.latest)
    return f"in the queue [trace {run.trace_id}]" if run.trace_id else "in the queue"


def _to_iso(timestamp: float) -> str:
    return datetime.fromtimestamp(timestamp, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
