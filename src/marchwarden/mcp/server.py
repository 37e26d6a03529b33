"""Build an MCP server with one tool, `research`, for any `Researcher`. Does not know a transport."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final

import anyio
from anyio import to_thread
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
    ToolAnnotations,
)

from marchwarden.contract import CONTRACT_VERSION, ResearchRequest, ResearchResult
from marchwarden.core.request import parse_request
from marchwarden.errors import Busy, InvalidInput, StorageError
from marchwarden.mcp.call_store import CallStore
from marchwarden.mcp.clients import ServiceClient
from marchwarden.mcp.outcome import CallOutcome, busy_error, error_result
from marchwarden.mcp.protocol import CONTRACT_KEY, TOOL, ProgressCounter, format_progress
from marchwarden.mcp.request_context import Context, RequestContext, ServerState, request_context_of
from marchwarden.mcp.resources import ReadableRuns, RunResources
from marchwarden.mcp.runs import RunPool, SharedRun
from marchwarden.mcp.service import Service
from marchwarden.mcp.tasks import Tasks, TaskState, accepts_tasks, add_task_handlers
from marchwarden.mcp.usage import UsageTracker
from marchwarden.protocols import Progress, ProgressSink, Researcher
from marchwarden.text.sanitize import one_line

PROGRESS_TIMEOUT_SEC: Final = 2.0
"""How long a client that reads nothing can delay its own call with one progress notification."""
TOOL_USAGE: Final = (
    "Answers one question within a budget and supports every claim with a verbatim quotation. An interrupted call is "
    "not lost: send the same request again to continue it, or read result://{trace id} when it has finished. The trace "
    "id is in the progress messages."
)


class McpServer(Server[ServerState]):
    """An MCP server with its service, which the HTTP transport also uses."""

    service: Service


def build_server(
    researcher: Researcher,
    *,
    name: str,
    purpose: str,
    store: ReadableRuns | None = None,
    service: Service | None = None,
) -> McpServer:
    """Build a server that has only the tool `research`.

    With a `store`, clients can read runs as `trace://{trace_id}` and `result://{trace_id}`. The `service` limits the
    calls. If it stores calls on disk, clients that support tasks get a task for each call.
    """
    service = service or Service()
    handler = _ToolHandler(research_tool(purpose), service)
    resources = RunResources(store) if store is not None else None
    server = McpServer(
        name,
        version=version("marchwarden"),
        instructions=purpose,
        lifespan=_build_lifespan(researcher, service),
        # None of our arguments is mirrored in a header, so the SDK need not compare them on each call.
        get_tool_input_schema=lambda _tool: None,
        on_list_tools=handler.list_tools,
        on_list_resources=resources.list_resources if resources else None,
        on_list_resource_templates=resources.list_templates if resources else None,
        on_read_resource=resources.read if resources else None,
    )
    server.service = service
    server.add_request_handler("tools/call", CallToolRequestParams, handler.call_tool)
    if service.call_store_path is not None:
        add_task_handlers(server)
    return server


def _build_lifespan(
    researcher: Researcher, service: Service
) -> Callable[[Server[ServerState]], AbstractAsyncContextManager[ServerState]]:
    @asynccontextmanager
    async def lifespan(_server: Server[ServerState]) -> AsyncIterator[ServerState]:
        """Open the call store and the run pool. Runs that are active at the end can be resumed later."""
        call_store = await to_thread.run_sync(CallStore.open, service.call_store_path)
        try:
            async with anyio.create_task_group() as task_group:
                usage = UsageTracker(call_store, service.metrics, service.limits.join_window)
                runs = RunPool(researcher, service, usage, task_group)
                service.run_pools.add(runs)
                try:
                    tasks = Tasks(runs, usage, call_store, service.limits.task_ttl)
                    yield ServerState(runs, call_store, tasks)
                finally:
                    service.run_pools.discard(runs)
                    runs.stop()
        finally:
            call_store.close()

    return lifespan


def research_tool(purpose: str) -> Tool:
    """Describe the tool: its purpose, its schemas and the contract version."""
    return Tool(
        name=TOOL,
        title="Research",
        description=f"{purpose}\n\n{TOOL_USAGE}",
        input_schema=ResearchRequest.model_json_schema(),
        output_schema=ResearchResult.model_json_schema(),
        annotations=ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=True),
        _meta={CONTRACT_KEY: CONTRACT_VERSION},
    )


@dataclass(frozen=True)
class _ToolHandler:
    """Handles tool calls: validate, count, join a run, respond. No call ends with a stack trace."""

    tool: Tool
    service: Service

    async def list_tools(self, _context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[self.tool])

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult | TaskState:
        if params.name != TOOL:
            raise MCPError(INVALID_PARAMS, f"there is no tool {one_line(params.name, 60)!r}; the only one is {TOOL!r}")
        request = request_context_of(context.request)
        try:
            if not request.is_counted:
                self.service.admit(request.client)
            run = context.lifespan_context.runs.join(request.client, parse_request(params.arguments or {}))
        except InvalidInput as error:
            self._count(request.client, "invalid_input")
            return error_result(str(error), "invalid_input")
        except Busy as error:
            raise _refuse_as_busy(request, str(error), error.seconds) from None
        return await self._respond(context, request, run)

    async def _respond(self, context: Context, request: RequestContext, run: SharedRun) -> CallToolResult | TaskState:
        """Return a task if the client supports tasks and the run is active, else the outcome of the run."""
        try:
            if accepts_tasks(context) and (task := await self._create_task(context, request.client, run)) is not None:
                self._count(request.client, "task")
                return task
            outcome = await _wait_for_outcome(context, run)
        except anyio.get_cancelled_exc_class():
            # The client cancelled the call. A lost connection does not, if the transport can tell.
            context.lifespan_context.runs.leave(run)
            self._count(request.client, "cancelled")
            raise
        self._count(request.client, outcome.ending)
        if outcome.ending == "busy":
            raise _refuse_as_busy(request, outcome.text, outcome.seconds)
        return outcome.to_tool_result()

    async def _create_task(self, context: Context, client: ServiceClient, run: SharedRun) -> TaskState | None:
        """Create a task, unless the run has already finished or the disk fails."""
        await run.accepted.wait()
        if run.finished.is_set():
            return None
        try:
            return await context.lifespan_context.tasks.create(client, run)
        except StorageError:
            return None

    def _count(self, client: ServiceClient, outcome: str) -> None:
        self.service.metrics.count("calls_total", client=client.name, outcome=outcome)


def _refuse_as_busy(request: RequestContext, message: str, seconds: int) -> MCPError:
    request.retry_after = seconds
    return busy_error(message, seconds)


async def _wait_for_outcome(context: Context, run: SharedRun) -> CallOutcome:
    """Wait for the run and report its progress to the client."""
    if context.request is not None and (context.meta or {}).get("progress_token") is None:
        await run.finished.wait()  # An HTTP client sends a token to request progress.
    else:
        report = _progress_reporter(context)
        with run.subscribe() as updates:
            async for update in updates:
                await report(update)
    assert run.outcome is not None
    return run.outcome


def _progress_reporter(context: Context) -> ProgressSink:
    counter = ProgressCounter()

    async def report(progress: Progress) -> None:
        with anyio.move_on_after(PROGRESS_TIMEOUT_SEC):
            value = counter.next_value(progress)
            await context.session.report_progress(value, progress.token_budget or None, format_progress(progress))

    return report
