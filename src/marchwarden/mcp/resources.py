"""Shelf: where runs are read again, as MCP resources. Nobody reads what another asked."""

from dataclasses import dataclass
from typing import Protocol

from anyio import to_thread
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    ResourceTemplate,
    TextResourceContents,
)

from marchwarden.errors import InvalidInput, MarchwardenError, UnknownTrace
from marchwarden.mcp.protocol import RESULT_SCHEME, TRACE_SCHEME
from marchwarden.mcp.request_context import request_context_of
from marchwarden.mcp.server_state import Context
from marchwarden.storage.record import RunRecord
from marchwarden.text.sanitize import one_line


class ReadableRuns(Protocol):
    """Where runs can be read again."""

    def text(self, trace_id: str) -> str: ...

    def reread(self, trace_id: str) -> RunRecord: ...


@dataclass(frozen=True)
class RunResources:
    """Two templates, no listing, every refusal one line."""

    store: ReadableRuns

    async def list_resources(self, _context: Context, _params: PaginatedRequestParams | None) -> ListResourcesResult:
        return ListResourcesResult(resources=[])

    async def list_templates(
        self, _context: Context, _params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        trace = ResourceTemplate(
            name="trace",
            title="The trace of a run",
            uri_template=f"{TRACE_SCHEME}{{trace_id}}",
            description="Every step of one run, one JSON object a line.",
            mime_type="application/jsonl",
        )
        result = ResourceTemplate(
            name="result",
            title="The result of a finished run",
            uri_template=f"{RESULT_SCHEME}{{trace_id}}",
            description="What the call returned, or would have, had its caller waited.",
            mime_type="application/json",
        )
        return ListResourceTemplatesResult(resource_templates=[trace, result])

    async def read(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        if params.uri.startswith(TRACE_SCHEME):
            read, mime_type = self.store.text, "application/jsonl"
        elif params.uri.startswith(RESULT_SCHEME):
            read, mime_type = self._result, "application/json"
        else:
            told = f"only {TRACE_SCHEME}<trace id> and {RESULT_SCHEME}<trace id> can be read here"
            raise MCPError(INVALID_PARAMS, told, {"uri": params.uri})
        trace_id = params.uri.partition("://")[2]
        try:
            await self._refuse_others(context, trace_id)
            text = await to_thread.run_sync(read, trace_id)
        except MarchwardenError as error:
            raise MCPError(INVALID_PARAMS, one_line(str(error)), {"uri": params.uri}) from None
        return ReadResourceResult(contents=[TextResourceContents(uri=params.uri, mime_type=mime_type, text=text)])

    def _result(self, trace_id: str) -> str:
        result = self.store.reread(trace_id).result
        if result is None:
            raise InvalidInput(f"run {trace_id} is not finished; if it was cut short, asking the same again goes on")
        return result.model_dump_json()

    async def _refuse_others(self, context: Context, trace_id: str) -> None:
        caller = request_context_of(context.request).caller
        if not caller.operator and context.lifespan_context.ledger.owner(trace_id) != caller.name:
            raise UnknownTrace(f"no trace {one_line(trace_id, 60)} of {caller.name} here")
