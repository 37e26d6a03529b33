"""Call: one conversation with a researcher over MCP, from meeting it to hanging up. Knows no way to reach one.

Ends with an answer or an error of ours, never with anybody else's: whatever goes wrong out there is one
`ResearcherUnavailable` with one line, what was asked wrongly is `InvalidInput`.
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
from marchwarden.mcp.protocol import CONTRACT_KEY, LONGEST_REFUSAL, REFUSAL_KEY, TOOL, parse_progress
from marchwarden.protocols import Progress, ProgressSink
from marchwarden.text.sanitize import one_line

CLOSING_SEC: Final = 10.0
MOST_PAGES: Final = 20
MOST_WAITING: Final = 1000


class McpConnection(Protocol):
    """One open line: what the SDK talks to, and what was seen to go wrong below it."""

    @property
    def target(self) -> AbstractAsyncContextManager[Any] | Server[Any]: ...

    def complaint(self) -> str: ...


@dataclass(frozen=True)
class ServerInfo:
    """The contract a server speaks and what it says it is for. `contract` is empty where it names none."""

    contract: str
    purpose: str


class ToolCall:
    """`timeout` bounds it as a whole, `silence` the time without progress and without an answer, both in seconds."""

    def __init__(self, name: str, line: McpConnection, timeout: float, silence: float) -> None:
        self._name = name
        self._line = line
        self._timeout = timeout
        self._silence = silence
        self._scope = anyio.CancelScope()
        self._end = anyio.current_time() + timeout
        self._result: ResearchResult | None = None
        self._introduction: ServerInfo | None = None
        self._error: MarchwardenError | None = None

    async def introduction(self) -> ServerInfo:
        """What the server says of itself, without asking it anything."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._talk, self._be_introduced)
        except BaseExceptionGroup as group:
            raise _cause(group) from group
        if self._introduction is not None:
            return self._introduction
        raise self._error or self._unavailable("the conversation ended without an introduction")

    async def answer(self, arguments: Mapping[str, object], progress: ProgressSink) -> ResearchResult:
        """What it answers to these arguments; its signs of life go to `progress`."""
        sent, heard = anyio.create_memory_object_stream[Progress](MOST_WAITING)
        try:
            async with anyio.create_task_group() as tasks:
                # A task of its own: what the SDK cancels when a server dies must not be ours.
                tasks.start_soon(self._ask, arguments, sent)
                with heard:
                    async for sign in heard:
                        await progress(sign)
        except BaseExceptionGroup as group:
            raise _cause(group) from group
        if self._result is not None:
            return self._result
        raise self._error or self._unavailable("the conversation ended without an answer")

    async def _ask(self, arguments: Mapping[str, object], signs: MemoryObjectSendStream[Progress]) -> None:
        async def be_answered(client: Client) -> None:
            _check(await _find_tool(client))
            self._result = _read(await self._reply(client, arguments, signs))

        with signs:
            await self._talk(be_answered)

    async def _be_introduced(self, client: Client) -> None:
        tool = await _find_tool(client)
        _check(tool)
        spoken = one_line(str((tool.meta or {}).get(CONTRACT_KEY, "")), 40)
        purpose = (tool.description or client.instructions or "").strip().split("\n")[0]
        self._introduction = ServerInfo(spoken, one_line(purpose))

    async def _talk(self, about: Callable[[Client], Awaitable[None]]) -> None:
        self._await_a_sign()
        with self._scope:
            try:
                async with Client(self._line.target, client_info=_introduction(), cache=None) as client:
                    await about(client)
                    # What was wanted is here; a server that is slow to hang up cannot take it back.
                    self._scope.deadline = anyio.current_time() + CLOSING_SEC
            except Exception as error:  # noqa: BLE001 - foreign code and a foreign server: mapped here, once
                self._error = self._mapped(_cause(error))
        if self._scope.cancelled_caught:
            late = anyio.current_time() >= self._end
            patience = f"did not finish in {self._timeout:g} s" if late else f"was silent for {self._silence:g} s"
            self._error = ResearcherUnavailable(f"{self._name} {patience}")

    def _await_a_sign(self) -> None:
        self._scope.deadline = min(self._end, anyio.current_time() + self._silence)

    async def _reply(
        self, client: Client, arguments: Mapping[str, object], signs: MemoryObjectSendStream[Progress]
    ) -> CallToolResult:
        async def hear(progress: float, total: float | None, message: str | None) -> None:
            self._await_a_sign()
            try:
                signs.send_nowait(parse_progress(progress, total, message))
            except (anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return  # nobody listens fast enough: a sign of life may be lost, an answer may not

        # Not `client.call_tool`: it checks answers with the schema, and so the regular expressions, of the server.
        request = CallToolRequest(params=CallToolRequestParams(name=TOOL, arguments=dict(arguments)))
        try:
            return await client.session.send_request(request, CallToolResult, progress_callback=hear)
        except MCPError as error:
            if error.code == INVALID_PARAMS:
                raise InvalidInput(one_line(error.message, LONGEST_REFUSAL)) from error
            raise

    def _mapped(self, error: BaseException) -> MarchwardenError:
        match error:
            case InvalidInput():
                return error
            case ValidationError():
                return self._unavailable("it sent a message that is not MCP")
            case _:
                return self._unavailable(one_line(str(error), 200) or type(error).__name__)

    def _unavailable(self, reason: str) -> ResearcherUnavailable:
        return ResearcherUnavailable(f"{self._name}: {self._line.complaint() or reason}")


async def _find_tool(client: Client) -> Tool:
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            if tool.name == TOOL:
                return tool
        cursor = page.next_cursor
        if cursor is None:
            break
    raise ResearcherUnavailable(f"it lists no tool {TOOL!r}")


def _check(tool: Tool) -> None:
    """A version is refused when it is another one; a server written elsewhere may name none."""
    spoken = (tool.meta or {}).get(CONTRACT_KEY, CONTRACT_VERSION)
    if spoken != CONTRACT_VERSION:
        raise ResearcherUnavailable(f"it speaks contract {one_line(str(spoken), 40)}, not {CONTRACT_VERSION}")


def _read(reply: CallToolResult) -> ResearchResult:
    if reply.is_error:
        said = next((block.text for block in reply.content if isinstance(block, TextContent)), "no reason given")
        if (reply.meta or {}).get(REFUSAL_KEY) == "invalid_input":
            raise InvalidInput(one_line(said, LONGEST_REFUSAL))
        raise ResearcherUnavailable(one_line(said))
    if reply.structured_content is None:
        raise ResearcherUnavailable("it answered without structured content")
    try:
        return ResearchResult.model_validate_json(json.dumps(reply.structured_content), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the answer"
        told = one_line(f"{where}: {first['msg']}", 200)
        raise ResearcherUnavailable(f"its answer breaks the contract: {told}") from error


def _introduction() -> Implementation:
    return Implementation(name="marchwarden", version=version("marchwarden"))


def _cause(error: BaseException) -> BaseException:
    """The first real error in a group of them, ours before anybody else's."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    leaves = [_cause(inner) for inner in error.exceptions]
    return next((leaf for leaf in leaves if isinstance(leaf, MarchwardenError)), leaves[0])
