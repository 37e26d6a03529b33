"""Server: any Researcher as an MCP server with one tool. Knows how a call is answered, not how its bytes travel."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final

import anyio
from anyio import to_thread
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)

from marchwarden.clean import one_line
from marchwarden.contract import CONTRACT_VERSION, ResearchRequest, ResearchResult
from marchwarden.errors import InvalidInput, MarchwardenError
from marchwarden.protocols import Progress, ProgressSink, Researcher
from marchwarden.refusals import checked
from marchwarden.wire.vocabulary import (
    CALLER_GONE,
    CONTRACT_KEY,
    LONGEST_REFUSAL,
    REFUSAL_KEY,
    TOOL,
    TRACE_SCHEME,
    Gauge,
    Refusal,
    progress_line,
)

log: Final = logging.getLogger(__name__)

PROGRESS_PATIENCE_SEC: Final = 2.0
"""How long a caller that reads nothing may hold a run up, for one sign of life."""

Context = ServerRequestContext[dict[str, Any]]
McpServer = Server[dict[str, Any]]
TraceReader = Callable[[str], str]


def build_server(
    researcher: Researcher, *, name: str, purpose: str, read_trace: TraceReader | None = None
) -> McpServer:
    """The server that lists `research` and nothing else; with `read_trace`, also the traces as `trace://{trace_id}`.

    `read_trace` gets a trace id as a caller wrote it and returns the trace's lines or raises `InvalidInput`.
    """
    desk = _Desk(researcher, research_tool(purpose))
    shelf = _Shelf(read_trace) if read_trace is not None else None
    return Server(
        name,
        version=version("marchwarden"),
        instructions=purpose,
        get_tool_input_schema={TOOL: desk.tool.input_schema}.get,
        on_list_tools=desk.list_tools,
        on_call_tool=desk.call_tool,
        on_list_resources=shelf.list_resources if shelf else None,
        on_list_resource_templates=shelf.list_templates if shelf else None,
        on_read_resource=shelf.read if shelf else None,
    )


def research_tool(purpose: str) -> Tool:
    """The tool as it is listed: its purpose, what it accepts, what it returns, and which contract that is."""
    return Tool(
        name=TOOL,
        title="Research",
        description=f"{purpose}\n\nAnswers one question under a budget, with verbatim evidence for every claim.",
        input_schema=ResearchRequest.model_json_schema(),
        output_schema=ResearchResult.model_json_schema(),
        annotations=ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=True),
        _meta={CONTRACT_KEY: CONTRACT_VERSION},
    )


@dataclass(frozen=True)
class _Desk:
    """Where calls come in: checked, passed to the researcher, answered. No call ends in a stack trace."""

    researcher: Researcher
    tool: Tool

    async def list_tools(self, _context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[self.tool])

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        if params.name != TOOL:
            raise MCPError(INVALID_PARAMS, f"there is no tool {one_line(params.name, 60)!r}; the only one is {TOOL!r}")
        gone = _caller_gone(context)
        if gone is None:
            return await self._answer(context, params.arguments or {})
        return await _while_awaited(lambda: self._answer(context, params.arguments or {}), gone)

    async def _answer(self, context: Context, arguments: Mapping[str, object]) -> CallToolResult:
        try:
            request = checked(arguments)
            result = await self.researcher.research(
                request.question,
                request.context,
                request.depth,
                request.constraints,
                progress=_reporting_to(context),
            )
            return _answered(result)
        except InvalidInput as error:
            return _refused(str(error), "invalid_input")
        except MarchwardenError as error:
            return _refused(str(error), "failed")
        except Exception:
            # The SDK would put the text of any other exception on the wire; internals stay in the server's log.
            log.exception("a research call failed unexpectedly")
            return _refused("the researcher failed unexpectedly; the log of its server says why", "failed")


@dataclass(frozen=True)
class _Shelf:
    """Where traces are read: one template, no listing, every refusal one line."""

    read_trace: TraceReader

    async def list_resources(self, _context: Context, _params: PaginatedRequestParams | None) -> ListResourcesResult:
        return ListResourcesResult(resources=[])

    async def list_templates(
        self, _context: Context, _params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        template = ResourceTemplate(
            name="trace",
            title="The trace of a run",
            uri_template=f"{TRACE_SCHEME}{{trace_id}}",
            description="Every step of one run, one JSON object a line.",
            mime_type="application/jsonl",
        )
        return ListResourceTemplatesResult(resource_templates=[template])

    async def read(self, _context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        if not params.uri.startswith(TRACE_SCHEME):
            raise MCPError(INVALID_PARAMS, f"only {TRACE_SCHEME}<trace id> can be read here", {"uri": params.uri})
        try:
            lines = await to_thread.run_sync(self.read_trace, params.uri.removeprefix(TRACE_SCHEME))
        except MarchwardenError as error:
            raise MCPError(INVALID_PARAMS, one_line(str(error)), {"uri": params.uri}) from None
        contents = TextResourceContents(uri=params.uri, mime_type="application/jsonl", text=lines)
        return ReadResourceResult(contents=[contents])


async def _while_awaited(work: Callable[[], Awaitable[CallToolResult]], gone: anyio.Event) -> CallToolResult:
    """Do the work as long as somebody waits for it.

    On the 2025 wire the SDK lets a call whose stream was closed run on, for a client that may resume. Nothing is kept
    to resume from here, so nobody could ever read the answer, and every further token would be wasted.
    """
    answer = _refused("the call was abandoned: its connection closed or the server is stopping", "failed")

    async def leave() -> None:
        await gone.wait()
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(leave)
        answer = await work()
        tasks.cancel_scope.cancel()
    return answer


def _caller_gone(context: Context) -> anyio.Event | None:
    scope = getattr(context.request, "scope", {})
    gone = scope.get(CALLER_GONE)
    return gone if isinstance(gone, anyio.Event) else None


def _reporting_to(context: Context) -> ProgressSink:
    gauge = Gauge()

    async def report(progress: Progress) -> None:
        with anyio.move_on_after(PROGRESS_PATIENCE_SEC):
            reading = gauge.reading(progress)
            await context.session.report_progress(reading, progress.token_budget or None, progress_line(progress))

    return report


def _answered(result: ResearchResult) -> CallToolResult:
    written = result.model_dump_json()
    return CallToolResult(content=[TextContent(text=written)], structured_content=result.model_dump(mode="json"))


def _refused(line: str, refusal: Refusal) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(text=one_line(line, LONGEST_REFUSAL))], is_error=True, _meta={REFUSAL_KEY: refusal}
    )
