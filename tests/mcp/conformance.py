"""The tools the conformance suite calls by name, done by a researcher behind our one tool: the tasks are ours."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import MISSING_REQUIRED_CLIENT_CAPABILITY

from marchwarden.contract import Depth, ResearchConstraints, ResearchResult
from marchwarden.errors import ResearcherUnavailable
from marchwarden.mcp.server import McpServer
from marchwarden.mcp.service import Service
from marchwarden.mcp.tasks import EXTENSION, accepts_tasks
from marchwarden.protocols import ProgressSink, ignore_progress
from tests.mcp.scripted import STEPS, result, server_of

Context = ServerRequestContext[Any, Any]


class Toolbox:
    """Does what a tool of the suite does: its question is the tool's name and arguments."""

    async def research(
        self,
        question: str,
        context: str | None = None,
        depth: str = Depth.BALANCED,
        constraints: ResearchConstraints | None = None,
        *,
        progress: ProgressSink = ignore_progress,
    ) -> ResearchResult:
        await progress(STEPS[0])
        tool, arguments = json.loads(question)
        # Long enough to be a task: what has ended before the reply is answered at once.
        await anyio.sleep(arguments.get("seconds", 0.5))
        match tool:
            case "failing_job":
                raise ResearcherUnavailable("this job always fails")
            case "protocol_error_job":
                raise RuntimeError("a bug of the server")
        return result(f"{tool} {arguments}")


async def translated(ctx: Context, call_next: CallNext) -> HandlerResult:
    """A call of one of the suite's tools as a call of `research`; those that do no work are answered here."""
    if ctx.method != "tools/call" or ctx.params is None:
        return await call_next(ctx)
    name, arguments = ctx.params["name"], ctx.params.get("arguments", {})
    match name:
        case "greet":
            return _said(f"Hello, {arguments['name']}!")
        case "confirm_delete":
            return _said("a researcher never asks its caller back")
        case "failing_job" if not accepts_tasks(ctx):
            needed: dict[str, Any] = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
            raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "only as a task", needed)
        case "test_tool_with_task" if "inputResponses" not in ctx.params:
            return _asking()
        case "test_tool_with_task":
            arguments = ctx.params["inputResponses"]["user_name"]["content"]
    asked = {"name": "research", "arguments": {"question": json.dumps([name, arguments])}}
    meta = {"_meta": ctx.params["_meta"]} if "_meta" in ctx.params else {}
    return await call_next(replace(ctx, params={**asked, **meta}))


def conforming(folder: Path) -> McpServer:
    server = server_of(Toolbox(), Service(call_store_path=folder / "calls.sqlite"))
    server.middleware.append(translated)
    return server


def _said(text: str) -> dict[str, Any]:
    return {"resultType": "complete", "content": [{"type": "text", "text": text}]}


def _asking() -> dict[str, Any]:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    params = {"mode": "form", "message": "Who are you?", "requestedSchema": schema}
    return {
        "resultType": "input_required",
        "inputRequests": {"user_name": {"method": "elicitation/create", "params": params}},
        "requestState": "round one",
    }
