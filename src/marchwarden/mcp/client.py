"""MCP client: a `Researcher` that runs in another process or on another machine.

The SDK takes a second to load. It is imported only after a subprocess was started, so that both load in parallel.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TextIO

from marchwarden.contract import Depth, ResearchConstraints, ResearchResult
from marchwarden.errors import InvalidInput
from marchwarden.mcp.stdio import StdioTransport
from marchwarden.protocols import ProgressSink, ignore_progress

if TYPE_CHECKING:
    from mcp.server import Server

    from marchwarden.mcp.call import McpConnection, ServerInfo

TIMEOUT_SEC: Final = 900.0
SILENCE_SEC: Final = 120.0


class Transport(Protocol):
    """A way to reach a server. Each call opens its own connection."""

    @property
    def name(self) -> str: ...

    def connect(self) -> "AbstractAsyncContextManager[McpConnection]": ...


class RemoteResearcher:
    """A researcher behind MCP: in a subprocess, at a URL, or in this process.

    `timeout` limits a whole call, `silence` the time without progress or an answer, both in seconds.
    Raises `ResearcherUnavailable` if the server fails and `InvalidInput` if the request is invalid.
    """

    def __init__(self, transport: Transport, *, timeout: float = TIMEOUT_SEC, silence: float = SILENCE_SEC) -> None:
        self._transport = transport
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
        """Start a new process for each call. It gets `env`, HOME, PATH and a few more variables, nothing else.

        Its stderr goes to `errlog`, if given. If it crashes, the error contains the last line of stderr.
        """
        if not command:
            raise InvalidInput("the command that starts the researcher is empty")
        return cls(StdioTransport(tuple(command), dict(env), errlog), timeout=timeout, silence=silence)

    @classmethod
    def http(
        cls, url: str, token: str | None = None, *, timeout: float = TIMEOUT_SEC, silence: float = SILENCE_SEC
    ) -> "RemoteResearcher":
        """Call the URL with a bearer token. Proxy settings of the environment are ignored."""
        from marchwarden.mcp.http_client import HttpTransport

        return cls(HttpTransport(url, token), timeout=timeout, silence=silence)

    @classmethod
    def in_process(
        cls, server: "Server[Any]", *, timeout: float = TIMEOUT_SEC, silence: float = SILENCE_SEC
    ) -> "RemoteResearcher":
        return cls(_InProcessTransport(server), timeout=timeout, silence=silence)

    async def server_info(self, seconds: float = 20.0) -> "ServerInfo":
        """Connect and return what the server says about itself. Raises `ResearcherUnavailable`."""
        async with self._transport.connect() as connection:
            from marchwarden.mcp.call import ToolCall

            return await ToolCall(self._transport.name, connection, seconds, seconds).server_info()

    async def research(
        self,
        question: str,
        context: str | None = None,
        depth: str = Depth.BALANCED,
        constraints: ResearchConstraints | None = None,
        *,
        progress: ProgressSink = ignore_progress,
    ) -> ResearchResult:
        async with self._transport.connect() as connection:
            from marchwarden.mcp.call import ToolCall

            call = ToolCall(self._transport.name, connection, self._timeout, self._silence)
            return await call.research(_build_arguments(question, context, depth, constraints), progress)


def _build_arguments(
    question: str, context: str | None, depth: str, constraints: ResearchConstraints | None
) -> dict[str, object]:
    """Return the tool arguments. Constraints that were not set are left out: the server has its own defaults."""
    arguments: dict[str, object] = {"question": question, "depth": str(depth)}
    if context is not None:
        arguments["context"] = context
    if constraints is not None and constraints.model_fields_set:
        arguments["constraints"] = constraints.model_dump(exclude_unset=True, mode="json")
    return arguments


@dataclass(frozen=True)
class _InProcessTransport:
    """A server in this process. Also serves as its own connection: there is no transport that could fail."""

    target: "Server[Any]"

    @property
    def name(self) -> str:
        return self.target.name

    def connect(self) -> AbstractAsyncContextManager["_InProcessTransport"]:
        return nullcontext(self)

    def failure(self) -> str:
        return ""
