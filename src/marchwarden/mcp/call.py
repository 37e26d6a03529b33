"""Call the `research` tool over an open MCP connection. Does not know how the server is reached.

Raises only our own errors: `InvalidInput` if the server rejects the request, `ResearcherUnavailable` with one line for
every other failure.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final, Protocol

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp import Client
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    TextContent,
    Tool,
)
from pydantic import ValidationError

from marchwarden.contract import CONTRACT_VERSION, ResearchResult
from marchwarden.errors import InvalidInput, MarchwardenError, ResearcherUnavailable
from marchwarden.mcp.protocol import CONTRACT_KEY, MAX_ERROR_CHARS, REFUSAL_KEY, TOOL, parse_progress
from marchwarden.protocols import Progress, ProgressSink
from marchwarden.text.sanitize import one_line

CLOSING_SEC: Final = 10.0
MAX_TOOL_PAGES: Final = 20
MAX_PENDING_UPDATES: Final = 1000


class McpConnection(Protocol):
    """One connection to a server: the target for the SDK's client, and failures that the SDK does not see."""

    @property
    def target(self) -> AbstractAsyncContextManager[Any] | Server[Any]: ...

    def failure(self) -> str: ...


@dataclass(frozen=True)
class ServerInfo:
    """The contract version and purpose a server states. `contract` is empty if it states none."""

    contract: str
    purpose: str


class ToolCall:
    """`timeout` limits the whole call, `silence` the time without progress or an answer, both in seconds."""

    def __init__(self, name: str, connection: McpConnection, timeout: float, silence: float) -> None:
        self._name = name
        self._connection = connection
        self._timeout = timeout
        self._silence = silence
        self._scope = anyio.CancelScope()
        self._end = anyio.current_time() + timeout
        self._result: ResearchResult | None = None
        self._server_info: ServerInfo | None = None
        self._error: MarchwardenError | None = None

    async def server_info(self) -> ServerInfo:
        """Return what the server says about itself, without calling the tool."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._use_client, self._read_server_info)
        except BaseExceptionGroup as group:
            raise _root_cause(group) from group
        if self._server_info is not None:
            return self._server_info
        raise self._error or self._unavailable("the connection closed before the server described itself")

    async def research(self, arguments: Mapping[str, object], progress: ProgressSink) -> ResearchResult:
        """Call the tool with these arguments and report its progress."""
        sent, updates = anyio.create_memory_object_stream[Progress](MAX_PENDING_UPDATES)
        try:
            async with anyio.create_task_group() as tasks:
                # A separate task: if a server dies, the SDK cancels the task that uses its client.
                tasks.start_soon(self._call, arguments, sent)
                with updates:
                    async for update in updates:
                        await progress(update)
        except BaseExceptionGroup as group:
            raise _root_cause(group) from group
        if self._result is not None:
            return self._result
        raise self._error or self._unavailable("the connection closed without an answer")

    async def _call(self, arguments: Mapping[str, object], updates: MemoryObjectSendStream[Progress]) -> None:
        async def read_result(client: Client) -> None:
            _check_contract(await _find_tool(client))
            self._result = _parse_result(await self._call_tool(client, arguments, updates))

        with updates:
            await self._use_client(read_result)

    async def _read_server_info(self, client: Client) -> None:
        tool = await _find_tool(client)
        _check_contract(tool)
        contract = one_line(str((tool.meta or {}).get(CONTRACT_KEY, "")), 40)
        purpose = (tool.description or client.instructions or "").strip().split("\n")[0]
        self._server_info = ServerInfo(contract, one_line(purpose))

    async def _use_client(self, use: Callable[[Client], Awaitable[None]]) -> None:
        """Connect and run `use` within the time limits. Errors are kept for the calling task to raise."""
        self._extend_deadline()
        with self._scope:
            try:
                async with Client(self._connection.target, client_info=_client_info(), cache=None) as client:
                    await use(client)
                    # The result has arrived; a server that is slow to close the connection cannot lose it.
                    self._scope.deadline = anyio.current_time() + CLOSING_SEC
            except Exception as error:  # noqa: BLE001 - third-party code and server: mapped here, once
                self._error = self._map_error(_root_cause(error))
        if self._scope.cancelled_caught:
            is_late = anyio.current_time() >= self._end
            reason = (
                f"did not finish within {self._timeout:g} s" if is_late else f"sent nothing for {self._silence:g} s"
            )
            self._error = ResearcherUnavailable(f"{self._name} {reason}")

    def _extend_deadline(self) -> None:
        self._scope.deadline = min(self._end, anyio.current_time() + self._silence)

    async def _call_tool(
        self, client: Client, arguments: Mapping[str, object], updates: MemoryObjectSendStream[Progress]
    ) -> CallToolResult:
        async def report(progress: float, total: float | None, message: str | None) -> None:
            self._extend_deadline()
            try:
                updates.send_nowait(parse_progress(progress, total, message))
            except (anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return  # The caller reads too slowly. Progress may be dropped, the answer may not.

        # Not `client.call_tool`: it validates answers with the schema of the server, including its regular expressions.
        request = CallToolRequest(params=CallToolRequestParams(name=TOOL, arguments=dict(arguments)))
        try:
            return await client.session.send_request(request, CallToolResult, progress_callback=report)
        except MCPError as error:
            if error.code == INVALID_PARAMS:
                raise InvalidInput(one_line(error.message, MAX_ERROR_CHARS)) from error
            raise

    def _map_error(self, error: BaseException) -> MarchwardenError:
        match error:
            case InvalidInput():
                return error
            case ValidationError():
                return self._unavailable("it sent an invalid MCP message")
            case _:
                return self._unavailable(one_line(str(error), 200) or type(error).__name__)

    def _unavailable(self, reason: str) -> ResearcherUnavailable:
        return ResearcherUnavailable(f"{self._name}: {self._connection.failure() or reason}")


async def _find_tool(client: Client) -> Tool:
    cursor: str | None = None
    for _ in range(MAX_TOOL_PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            if tool.name == TOOL:
                return tool
        cursor = page.next_cursor
        if cursor is None:
            break
    raise ResearcherUnavailable(f"it has no tool {TOOL!r}")


def _check_contract(tool: Tool) -> None:
    """Reject other contract versions. A third-party server may state none."""
    stated = (tool.meta or {}).get(CONTRACT_KEY, CONTRACT_VERSION)
    if stated != CONTRACT_VERSION:
        raise ResearcherUnavailable(f"it uses contract {one_line(str(stated), 40)}, not {CONTRACT_VERSION}")


def _parse_result(reply: CallToolResult) -> ResearchResult:
    if reply.is_error:
        message = next((block.text for block in reply.content if isinstance(block, TextContent)), "no reason given")
        if (reply.meta or {}).get(REFUSAL_KEY) == "invalid_input":
            raise InvalidInput(one_line(message, MAX_ERROR_CHARS))
        raise ResearcherUnavailable(one_line(message))
    if reply.structured_content is None:
        raise ResearcherUnavailable("its answer has no structured content")
    try:
        return ResearchResult.model_validate_json(json.dumps(reply.structured_content), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the answer"
        reason = one_line(f"{where}: {first['msg']}", 200)
        raise ResearcherUnavailable(f"its answer violates the contract: {reason}") from error


def _client_info() -> Implementation:
    return Implementation(name="marchwarden", version=version("marchwarden"))


def _root_cause(error: BaseException) -> BaseException:
    """Return the first error inside a group, preferring our own error types."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    leaves = [_root_cause(inner) for inner in error.exceptions]
    return next((leaf for leaf in leaves if isinstance(leaf, MarchwardenError)), leaves[0])
