"""A server for the conformance suite: a researcher implements the suite's tools behind our one tool."""

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
from tests.mcp.scripted import STEPS, result, scripted_server

Context = ServerRequestContext[Any, Any]


class SuiteResearcher:
    """Does what a tool of the suite does. The question is the name and the arguments of the tool, as JSON."""

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
        # Long enough to become a task: a run that ends before the reply is answered immediately.
        await anyio.sleep(arguments.get("seconds", 0.5))
        match tool:
            case "failing_job":
                raise ResearcherUnavailable("this job always fails")
            case "protocol_error_job":
                raise RuntimeError("a bug in the server")
        return result(f"{tool} {arguments}")


async def translate_call(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Turn a call of a suite tool into a call of `research`. Tools that do no work are answered here."""
    if ctx.method != "tools/call" or ctx.params is None:
        return await call_next(ctx)
    name, arguments = ctx.params["name"], ctx.params.get("arguments", {})
    match name:
        case "greet":
            return _text_reply(f"Hello, {arguments['name']}!")
        case "confirm_delete":
            return _text_reply("a researcher never asks its client")
        case "failing_job" if not accepts_tasks(ctx):
            needed: dict[str, Any] = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
            raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "only as a task", needed)
        case "test_tool_with_task" if "inputResponses" not in ctx.params:
            return _input_request()
        case "test_tool_with_task":
            arguments = ctx.params["inputResponses"]["user_name"]["content"]
    params = {"name": "research", "arguments": {"question": json.dumps([name, arguments])}}
    meta = {"_meta": ctx.params["_meta"]} if "_meta" in ctx.params else {}
    return await call_next(replace(ctx, params={**params, **meta}))


def conformance_server(folder: Path) -> McpServer:
    server = scripted_server(SuiteResearcher(), Service(call_store_path=folder / "calls.sqlite"))
    server.middleware.append(translate_call)
    return server


def _text_reply(text: str) -> dict[str, Any]:
    return {"resultType": "complete", "content": [{"type": "text", "text": text}]}


def _input_request() -> dict[str, Any]:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    params = {"mode": "form", "message": "Who are you?", "requestedSchema": schema}
    return {
        "resultType": "input_required",
        "inputRequests": {"user_name": {"method": "elicitation/create", "params": params}},
        "requestState": "round one",
    }
