"""Answering: an outcome as MCP tells it. Knows no server and no transport."""

import json

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, CallToolResult, ErrorData, TextContent

from marchwarden.mcp.outcome import CallOutcome
from marchwarden.mcp.protocol import BUSY, MAX_ERROR_CHARS, REFUSAL_KEY, RETRY_KEY, Refusal
from marchwarden.text.sanitize import one_line


def told(outcome: CallOutcome) -> CallToolResult:
    """What a caller gets who waited for it: an answer, or one line that says why there is none."""
    if outcome.ending == "answered":
        content = json.loads(outcome.told)
        return CallToolResult(content=[TextContent(text=outcome.told)], structured_content=content)
    return refused(outcome.told, "invalid_input" if outcome.ending == "invalid_input" else "failed")


def refused(line: str, refusal: Refusal) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(text=one_line(line, MAX_ERROR_CHARS))], is_error=True, _meta={REFUSAL_KEY: refusal}
    )


def broken(outcome: CallOutcome) -> ErrorData | None:
    """What ended a task without a result of the tool: only that the server itself failed."""
    return ErrorData(code=INTERNAL_ERROR, message=outcome.told) if outcome.ending == "crashed" else None


def busy(line: str, seconds: int) -> MCPError:
    return MCPError(BUSY, one_line(line, MAX_ERROR_CHARS), {RETRY_KEY: seconds})
