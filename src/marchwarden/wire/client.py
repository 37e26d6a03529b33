"""Client: a researcher somewhere else, asked over MCP. Knows the contract and nothing of what answers.

Whatever goes wrong out there is one `ResearcherUnavailable` with one line; what was asked wrongly is `InvalidInput`.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final, Protocol, TextIO

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

from marchwarden.clean import one_line
from marchwarden.contract import CONTRACT_VERSION, Depth, ResearchConstraints, ResearchResult
from marchwarden.errors import InvalidInput, MarchwardenError, ResearcherUnavailable
from marchwarden.protocols import Progress, ProgressSink, quiet
from marchwarden.wire.child import Command
from marchwarden.wire.endpoint import Endpoint
from marchwarden.wire.vocabulary import (
    CONTRACT_KEY,
    LONGEST_REFUSAL,
    REFUSAL_KEY,
    TOOL,
    progress_heard,
)

TIMEOUT_SEC: Final = 900.0
SILENCE_SEC: Final = 120.0
CLOSING_SEC: Final = 10.0
MOST_PAGES: Final = 20
MOST_WAITING: Final = 1000


class Line(Protocol):
    """One open conversation: what the SDK talks to, and what was seen to go wrong below it."""

    @property
    def target(self) -> AbstractAsyncContextManager[Any] | Server[Any]: ...

    def complaint(self) -> str: ...


class Link(Protocol):
    """A way to reach a server: each call opens its own line."""

    @property
    def name(self) -> str: ...

    def connect(self) -> Line: ...


@dataclass(frozen=True)
class Introduction:
    """The contract a server speaks and what it says it is for. `contract` is empty where it names none."""

    contract: str
    purpose: str


class RemoteResearcher:
    """A Researcher behind MCP: in a child process, at a URL, or in this process.

    `timeout` bounds a call as a whole, `silence` the time without progress and without an answer, both in seconds.
    """

    def __init__(self, link: Link, *, timeout: float = TIMEOUT_SEC, silence: float = SILENCE_SEC) -> None:
        self._link = link
        self._timeout = timeout
        self._silence = silence

    @classmethod
    def stdio(
        cls,
        command: Sequence[str],
        env: Mapping[str, str],
        *,
        errlog: TextIO | None = None,
        timeout: float = TIMEOUT_SEC,
        silence: float = SILENCE_SEC,
    ) -> "RemoteResearcher":
        """Start the command anew for each call. It gets `env`, HOME, PATH and the like, and nothing else of ours.

        Its stderr goes to `errlog`, if there is one; its last line is part of the error when it dies.
        """
        if not command:
            raise InvalidInput("the command of a researcher is empty")
        return cls(Command(tuple(command), dict(env), errlog), timeout=timeout, silence=silence)

    @classmethod
    def http(
        cls, url: str, token: str | None = None, *, timeout: float = TIMEOUT_SEC, silence: float = SILENCE_SEC
    ) -> "RemoteResearcher":
        """Call the URL, showing the token. Proxies of the environment are not used."""
        return cls(Endpoint(url, token), timeout=timeout, silence=silence)

    @classmethod
    def in_process(
        cls, server: Server[Any], *, timeout: float = TIMEOUT_SEC, silence: float = SILENCE_SEC
    ) -> "RemoteResearcher":
        return cls(_InProcess(server), timeout=timeout, silence=silence)

    async def introduced(self, seconds: float = 20.0) -> "Introduction":
        """What the server says of itself, without asking it anything. Raises `ResearcherUnavailable` like a call."""
        call = _Call(self._link, {}, seconds, seconds)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call.meet)
        except BaseExceptionGroup as group:
            raise _cause(group) from group
        return call.introduction()

    async def research(
        self,
        question: str,
        context: str | None = None,
        depth: str = Depth.BALANCED,
        constraints: ResearchConstraints | None = None,
        *,
        progress: ProgressSink = quiet,
    ) -> ResearchResult:
        call = _Call(self._link, _arguments(question, context, depth, constraints), self._timeout, self._silence)
        sent, heard = anyio.create_memory_object_stream[Progress](MOST_WAITING)
        try:
            async with anyio.create_task_group() as tasks:
                # A task of its own: what the SDK cancels when a server dies must not be ours.
                tasks.start_soon(call.run, sent)
                with heard:
                    async for sign in heard:
                        await progress(sign)
        except BaseExceptionGroup as group:
            raise _cause(group) from group
        return call.answer()


def _arguments(
    question: str, context: str | None, depth: str, constraints: ResearchConstraints | None
) -> dict[str, object]:
    """The arguments as they travel: only what was really given, so that the server's presets hold for the rest."""
    given: dict[str, object] = {"question": question, "depth": str(depth)}
    if context is not None:
        given["context"] = context
    if constraints is not None and constraints.model_fields_set:
        given["constraints"] = constraints.model_dump(exclude_unset=True, mode="json")
    return given


class _Call:
    """One call from dialling to hanging up. Ends with an answer or an error of ours, never with anybody else's."""

    def __init__(self, link: Link, arguments: dict[str, object], timeout: float, silence: float) -> None:
        self._name = link.name
        self._line = link.connect()
        self._arguments = arguments
        self._timeout = timeout
        self._silence = silence
        self._scope = anyio.CancelScope()
        self._end = anyio.current_time() + timeout
        self._result: ResearchResult | None = None
        self._introduction: Introduction | None = None
        self._error: MarchwardenError | None = None

    def answer(self) -> ResearchResult:
        if self._result is not None:
            return self._result
        raise self._error or self._unavailable("the conversation ended without an answer")

    def introduction(self) -> Introduction:
        if self._introduction is not None:
            return self._introduction
        raise self._error or self._unavailable("the conversation ended without an introduction")

    async def run(self, signs: MemoryObjectSendStream[Progress]) -> None:
        with signs:
            await self._talk(lambda client: self._be_answered(client, signs))

    async def meet(self) -> None:
        await self._talk(self._be_introduced)

    async def _be_answered(self, client: Client, signs: MemoryObjectSendStream[Progress]) -> None:
        _check(await _find_tool(client))
        self._result = _read(await self._ask(client, signs))

    async def _be_introduced(self, client: Client) -> None:
        tool = await _find_tool(client)
        _check(tool)
        spoken = one_line(str((tool.meta or {}).get(CONTRACT_KEY, "")), 40)
        purpose = (tool.description or client.instructions or "").strip().split("\n")[0]
        self._introduction = Introduction(spoken, one_line(purpose))

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

    async def _ask(self, client: Client, signs: MemoryObjectSendStream[Progress]) -> CallToolResult:
        async def hear(progress: float, total: float | None, message: str | None) -> None:
            self._await_a_sign()
            try:
                signs.send_nowait(progress_heard(progress, total, message))
            except (anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return  # nobody listens fast enough: a sign of life may be lost, an answer may not

        # Not `client.call_tool`: it checks answers with the schema, and so the regular expressions, of the server.
        request = CallToolRequest(params=CallToolRequestParams(name=TOOL, arguments=self._arguments))
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


@dataclass(frozen=True)
class _InProcess:
    """A server of this process, which is its own line: nothing below it can go wrong."""

    target: Server[Any]

    @property
    def name(self) -> str:
        return self.target.name

    def connect(self) -> "_InProcess":
        return self

    def complaint(self) -> str:
        return ""
