"""The outcome of a call, in its stored form and as an MCP response. Does not know a server or a transport."""

import json
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, CallToolResult, ErrorData, TextContent
from pydantic import Field, TypeAdapter

from marchwarden.contract import ResearchResult
from marchwarden.mcp.protocol import BUSY, MAX_ERROR_CHARS, REFUSAL_KEY, RETRY_KEY, Refusal
from marchwarden.text.sanitize import escape_json, one_line

Ending = Literal["answered", "invalid_input", "failed", "crashed", "busy", "cancelled", "stopped"]
"""`busy`: the run did not start here. `cancelled`: no client waits any more. `stopped`: the server is stopping."""


@dataclass(frozen=True)
class CallOutcome:
    """`text` is the result as JSON if the call was answered, else one line. Retry after `seconds`.

    `text` is stored under the key `told`.
    """

    ending: Ending
    text: Annotated[str, Field(alias="told")]
    seconds: int = 0

    @classmethod
    def answered(cls, result: ResearchResult) -> "CallOutcome":
        return cls("answered", result.model_dump_json())

    @property
    def result(self) -> ResearchResult | None:
        return ResearchResult.model_validate_json(self.text) if self.ending == "answered" else None

    @property
    def is_final(self) -> bool:
        """Whether the run is over. Otherwise the same request continues it."""
        return self.ending in {"answered", "invalid_input", "failed", "crashed"}

    def to_json(self) -> str:
        return _JSON.dump_json(self, by_alias=True).decode()

    @classmethod
    def from_json(cls, text: str) -> "CallOutcome":
        return _JSON.validate_json(text)

    def to_tool_result(self) -> CallToolResult:
        """Return the answer, or an error result whose text says why there is none."""
        if self.ending == "answered":
            shown = TextContent(text=escape_json(self.text))
            return CallToolResult(content=[shown], structured_content=json.loads(self.text))
        return error_result(self.text, "invalid_input" if self.ending == "invalid_input" else "failed")

    def to_internal_error(self) -> ErrorData | None:
        """Return the JSON-RPC error of a task that failed because of a bug, or None."""
        return ErrorData(code=INTERNAL_ERROR, message=self.text) if self.ending == "crashed" else None


_JSON: Final = TypeAdapter(CallOutcome)


def error_result(message: str, refusal: Refusal) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(text=one_line(message, MAX_ERROR_CHARS))], is_error=True, _meta={REFUSAL_KEY: refusal}
    )


def busy_error(message: str, seconds: int) -> MCPError:
    return MCPError(BUSY, one_line(message, MAX_ERROR_CHARS), {RETRY_KEY: seconds})
