"""Client: a researcher somewhere else, asked over MCP. Knows the ways to reach one, and nothing of what is said there.

The SDK takes a second to load, and so does a researcher: a process is started first, and both load side by side.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TextIO

from marchwarden.contract import Depth, ResearchConstraints, ResearchResult
from marchwarden.errors import InvalidInput
from marchwarden.mcp.command import StdioTransport
from marchwarden.protocols import ProgressSink, ignore_progress

if TYPE_CHECKING:
    from mcp.server import Server

    from marchwarden.mcp.call import McpConnection, ServerInfo

TIMEOUT_SEC: Final = 900.0
SILENCE_SEC: Final = 120.0


class Transport(Protocol):
    """A way to reach a server: each call opens its own line."""

    @property
    def name(self) -> str: ...

    def opened(self) -> "AbstractAsyncContextManager[McpConnection]": ...


class RemoteResearcher:
    """A Researcher behind MCP: in a child process, at a URL, or in this process.

    `timeout` bounds a call as a whole, `silence` the time without progress and without an answer, both in seconds.
    Whatever goes wrong out there is one `ResearcherUnavailable`; what was asked wrongly is `InvalidInput`.
    """

    def __init__(self, link: Transport, *, timeout: float = TIMEOUT_SEC, silence: float = SILENCE_SEC) -> None:
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
        return cls(StdioTransport(tuple(command), dict(env), errlog), timeout=timeout, silence=silence)

    @classmethod
    def http(
        cls, url: str, token: str | None = None, *, timeout: float = TIMEOUT_SEC, silence: float = SILENCE_SEC
    ) -> "RemoteResearcher":
        """Call the URL, showing the token. Proxies of the environment are not used."""
        from marchwarden.mcp.http_client import HttpTransport

        return cls(HttpTransport(url, token), timeout=timeout, silence=silence)

    @classmethod
    def in_process(
        cls, server: "Server[Any]", *, timeout: float = TIMEOUT_SEC, silence: float = SILENCE_SEC
    ) -> "RemoteResearcher":
        return cls(_InProcess(server), timeout=timeout, silence=silence)

    async def introduced(self, seconds: float = 20.0) -> "ServerInfo":
        """What the server says of itself, without asking it anything. Raises `ResearcherUnavailable` like a call."""
        async with self._link.opened() as line:
            from marchwarden.mcp.call import ToolCall

            return await ToolCall(self._link.name, line, seconds, seconds).introduction()

    async def research(
        self,
        question: str,
        context: str | None = None,
        depth: str = Depth.BALANCED,
        constraints: ResearchConstraints | None = None,
        *,
        progress: ProgressSink = ignore_progress,
    ) -> ResearchResult:
        async with self._link.opened() as line:
            from marchwarden.mcp.call import ToolCall

            call = ToolCall(self._link.name, line, self._timeout, self._silence)
            return await call.answer(_arguments(question, context, depth, constraints), progress)


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


@dataclass(frozen=True)
class _InProcess:
    """A server of this process, which is its own line: nothing below it can go wrong."""

    target: "Server[Any]"

    @property
    def name(self) -> str:
        return self.target.name

    def opened(self) -> AbstractAsyncContextManager["_InProcess"]:
        return nullcontext(self)

    def complaint(self) -> str:
        return ""
