"""Server: any Researcher as an MCP server with one tool. Knows how a call is answered, not how its bytes travel."""

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
from marchwarden.mcp.outcome import CallOutcome
from marchwarden.mcp.protocol import CONTRACT_KEY, TOOL, ProgressCounter, format_progress
from marchwarden.mcp.request_context import RequestContext, request_context_of
from marchwarden.mcp.resources import ReadableRuns, RunResources
from marchwarden.mcp.responses import busy, refused, told
from marchwarden.mcp.run import SharedRun
from marchwarden.mcp.runs import RunPool
from marchwarden.mcp.server_state import Context, ServerState
from marchwarden.mcp.service import Service
from marchwarden.mcp.tasks import Tasks, TaskTold, offer_tasks, speaks_tasks
from marchwarden.mcp.usage import UsageTracker
from marchwarden.protocols import Progress, ProgressSink, Researcher
from marchwarden.text.sanitize import one_line

PROGRESS_PATIENCE_SEC: Final = 2.0
"""How long a caller that reads nothing may hold its own call up, for one sign of life."""
MANNER: Final = (
    "Answers one question under a budget, with verbatim evidence for every claim. A call that is cut off is not lost: "
    "ask the same again and it goes on, or read result://{trace id} once it is finished; the trace id is in the "
    "progress."
)


class McpServer(Server[ServerState]):
    """An MCP server that knows its service, so that whatever stands before it keeps to the same terms."""

    service: Service


def build_server(
    researcher: Researcher,
    *,
    name: str,
    purpose: str,
    store: ReadableRuns | None = None,
    service: Service | None = None,
) -> McpServer:
    """The server that lists `research` and nothing else.

    With a `store`, runs can be read as `trace://{trace_id}` and `result://{trace_id}`. A `service` says on which terms
    calls are taken; if it keeps its ledger on disk, clients that speak of tasks get one for each call.
    """
    service = service or Service()
    desk = _ToolHandler(research_tool(purpose), service)
    shelf = RunResources(store) if store is not None else None
    server = McpServer(
        name,
        version=version("marchwarden"),
        instructions=purpose,
        lifespan=_open(researcher, service),
        # None of our arguments travels in a header, so there is none to hold against it, call by call.
        get_tool_input_schema=lambda _tool: None,
        on_list_tools=desk.list_tools,
        on_list_resources=shelf.list_resources if shelf else None,
        on_list_resource_templates=shelf.list_templates if shelf else None,
        on_read_resource=shelf.read if shelf else None,
    )
    server.service = service
    server.add_request_handler("tools/call", CallToolRequestParams, desk.call_tool)
    if service.ledger is not None:
        offer_tasks(server)
    return server


def _open(
    researcher: Researcher, service: Service
) -> Callable[[Server[ServerState]], AbstractAsyncContextManager[ServerState]]:
    @asynccontextmanager
    async def serving(_server: Server[ServerState]) -> AsyncIterator[ServerState]:
        """What is under way when the server ends is cut short, not lost: its trace and the ledger lead back to it."""
        ledger = await to_thread.run_sync(CallStore.open, service.ledger)
        try:
            async with anyio.create_task_group() as tasks:
                books = UsageTracker(ledger, service.meter, service.terms.join_window)
                runs = RunPool(researcher, service, books, tasks)
                service.working.add(runs)
                try:
                    yield ServerState(runs, ledger, Tasks(runs, books, ledger, service.terms.task_ttl))
                finally:
                    service.working.discard(runs)
                    runs.stop()
        finally:
            ledger.close()

    return serving


def research_tool(purpose: str) -> Tool:
    """The tool as it is listed: its purpose, what it accepts, what it returns, and which contract that is."""
    return Tool(
        name=TOOL,
        title="Research",
        description=f"{purpose}\n\n{MANNER}",
        input_schema=ResearchRequest.model_json_schema(),
        output_schema=ResearchResult.model_json_schema(),
        annotations=ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=True),
        _meta={CONTRACT_KEY: CONTRACT_VERSION},
    )


@dataclass(frozen=True)
class _ToolHandler:
    """Where calls come in: checked, counted, joined to a run, answered. No call ends in a stack trace."""

    tool: Tool
    service: Service

    async def list_tools(self, _context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[self.tool])

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult | TaskTold:
        if params.name != TOOL:
            raise MCPError(INVALID_PARAMS, f"there is no tool {one_line(params.name, 60)!r}; the only one is {TOOL!r}")
        exchange = request_context_of(context.request)
        try:
            if not exchange.is_counted:
                self.service.admit(exchange.caller)
            run = context.lifespan_context.runs.join(exchange.caller, parse_request(params.arguments or {}))
        except InvalidInput as error:
            self._count(exchange.caller, "invalid_input")
            return refused(str(error), "invalid_input")
        except Busy as error:
            raise _sent_back(exchange, str(error), error.seconds) from None
        return await self._answered(context, exchange, run)

    async def _answered(self, context: Context, exchange: RequestContext, run: SharedRun) -> CallToolResult | TaskTold:
        """With a task where the caller speaks of them and the run goes on, else with what came of the run."""
        try:
            if speaks_tasks(context) and (task := await self._task(context, exchange.caller, run)) is not None:
                self._count(exchange.caller, "task")
                return task
            outcome = await _awaited(context, run)
        except anyio.get_cancelled_exc_class():
            # Its caller gave it up. A connection that is merely lost does not come here where the wire can tell.
            context.lifespan_context.runs.leave(run)
            self._count(exchange.caller, "cancelled")
            raise
        self._count(exchange.caller, outcome.ending)
        if outcome.ending == "busy":
            raise _sent_back(exchange, outcome.told, outcome.seconds)
        return told(outcome)

    async def _task(self, context: Context, caller: ServiceClient, run: SharedRun) -> TaskTold | None:
        """A task for the run, unless it has ended already or the disk does not take it."""
        await run.accepted.wait()
        if run.over.is_set():
            return None
        try:
            return await context.lifespan_context.tasks.open(caller, run)
        except StorageError:
            return None

    def _count(self, caller: ServiceClient, outcome: str) -> None:
        self.service.meter.count("calls_total", client=caller.name, outcome=outcome)


def _sent_back(exchange: RequestContext, line: str, seconds: int) -> MCPError:
    exchange.retry_after = seconds
    return busy(line, seconds)


async def _awaited(context: Context, run: SharedRun) -> CallOutcome:
    """The run's outcome, its signs of life passed on meanwhile to whoever wants them."""
    if context.request is not None and (context.meta or {}).get("progress_token") is None:
        await run.over.wait()  # over HTTP it would have to say so; nothing is spent on signs nobody gets
    else:
        report = _reporting_to(context)
        with run.listening() as signs:
            async for sign in signs:
                await report(sign)
    assert run.outcome is not None
    return run.outcome


def _reporting_to(context: Context) -> ProgressSink:
    gauge = ProgressCounter()

    async def report(progress: Progress) -> None:
        with anyio.move_on_after(PROGRESS_PATIENCE_SEC):
            reading = gauge.next_value(progress)
            await context.session.report_progress(reading, progress.token_budget or None, format_progress(progress))

    return report
