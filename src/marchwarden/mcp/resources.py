"""Offer recorded runs as MCP resources. A client can read only its own runs, an operator all of them."""

import logging
from dataclasses import dataclass
from typing import Final, Protocol

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
from marchwarden.mcp.request_context import Context, request_context_of
from marchwarden.storage.record import RunRecord
from marchwarden.text.sanitize import escape_json, one_line

log: Final = logging.getLogger(__name__)


class ReadableRuns(Protocol):
    """A store from which traces and records can be read."""

    def text(self, trace_id: str) -> str: ...

    def reread(self, trace_id: str) -> RunRecord: ...


@dataclass(frozen=True)
class RunResources:
    """Handles the resource methods: two templates, no listing. Every error is one line."""

    store: ReadableRuns

    async def list_resources(self, _context: Context, _params: PaginatedRequestParams | None) -> ListResourcesResult:
        return ListResourcesResult(resources=[])

    async def list_templates(
        self, _context: Context, _params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        trace = ResourceTemplate(
            name="trace",
            title="Trace of a run",
            uri_template=f"{TRACE_SCHEME}{{trace_id}}",
            description="All steps of a run, one JSON object per line.",
            mime_type="application/jsonl",
        )
        result = ResourceTemplate(
            name="result",
            title="Result of a finished run",
            uri_template=f"{RESULT_SCHEME}{{trace_id}}",
            description="The result that the call returned, or would have returned if the client had waited.",
            mime_type="application/json",
        )
        return ListResourceTemplatesResult(resource_templates=[trace, result])

    async def read(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        if params.uri.startswith(TRACE_SCHEME):
            read, mime_type = self.store.text, "application/jsonl"
        elif params.uri.startswith(RESULT_SCHEME):
            read, mime_type = self._read_result, "application/json"
        else:
            message = f"only {TRACE_SCHEME}<trace id> and {RESULT_SCHEME}<trace id> can be read"
            raise MCPError(INVALID_PARAMS, message, {"uri": params.uri})
        trace_id = params.uri.partition("://")[2]
        try:
            await self._check_owner(context, trace_id)
            text = await to_thread.run_sync(read, trace_id)
        except UnknownTrace:
            # The error of the store names a folder or bucket of this server.
            name = request_context_of(context.request).client.name
            raise _unreadable(params.uri, f"{name} has no trace {one_line(trace_id, 60)}") from None
        except InvalidInput as error:
            raise _unreadable(params.uri, str(error)) from None
        except (MarchwardenError, OSError):
            log.exception("Could not read a run")
            raise _unreadable(params.uri, "the run cannot be read; see the log of the server") from None
        return ReadResourceResult(contents=[TextResourceContents(uri=params.uri, mime_type=mime_type, text=text)])

    def _read_result(self, trace_id: str) -> str:
        result = self.store.reread(trace_id).result
        if result is None:
            raise InvalidInput(
                f"run {trace_id} is not finished; to continue an interrupted run, send its request again"
            )
        return escape_json(result.model_dump_json())

    async def _check_owner(self, context: Context, trace_id: str) -> None:
        client = request_context_of(context.request).client
        if not client.operator and context.lifespan_context.call_store.run_owner(trace_id) != client.name:
            raise UnknownTrace


def _unreadable(uri: str, reason: str) -> MCPError:
    return MCPError(INVALID_PARAMS, one_line(reason, 200), {"uri": uri})
