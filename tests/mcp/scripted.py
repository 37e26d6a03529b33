"""Test researchers and ways to serve them."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from mcp.server import Server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

from marchwarden.contract import (
    Citation,
    ConfidenceFactors,
    CostMetadata,
    Depth,
    Gap,
    GapCategory,
    ResearchConstraints,
    ResearchRequest,
    ResearchResult,
)
from marchwarden.errors import InvalidInput
from marchwarden.mcp.clients import ClientRegistry, ServiceConfig
from marchwarden.mcp.http_server import serve_http
from marchwarden.mcp.server import McpServer, build_server
from marchwarden.mcp.service import Service
from marchwarden.protocols import Progress, ProgressSink, Researcher, ignore_progress
from marchwarden.storage.archive import Archive
from marchwarden.storage.record import RunRecord
from marchwarden.storage.trace import TraceEntry

TRACE_ID = "6f9e1c52-9c0e-4c7e-8a53-0d6f3d0c1a11"
CHILD = (sys.executable, str(Path(__file__).with_name("child.py")))


def result(answer: str = "The bridge opened in 1932 [1].") -> ResearchResult:
    return ResearchResult(
        answer=answer,
        citations=(
            Citation(source="file", locator="bridge.md#L3", raw_excerpt="The bridge opened in 1932.", confidence=0.9),
        ),
        gaps=(Gap(topic="cost", category=GapCategory.SOURCE_NOT_FOUND, detail="no document gives it"),),
        confidence=0.7,
        confidence_factors=ConfidenceFactors(
            num_corroborating_sources=1,
            source_authority="medium",
            contradiction_detected=False,
            query_specificity_match=0.8,
            budget_exhausted=False,
        ),
        cost_metadata=CostMetadata(
            tokens_used=120, iterations_run=1, wall_time_sec=0.5, budget_exhausted=False, model_id="scripted"
        ),
        trace_id=TRACE_ID,
    )


STEPS = (
    Progress(TRACE_ID, "plan", "2 queries", 1, 0, 20_000, 0),
    Progress(TRACE_ID, "search", "bridge opening year", 1, 0, 20_000, 0),
    Progress(TRACE_ID, "read", "3 passages of bridge.md", 1, 120, 20_000, 1),
    Progress(TRACE_ID, "conclude", "1 claim", 1, 120, 20_000, 1),
)


class AnsweringResearcher:
    """Reports its steps, then answers. Remembers its requests in `asked`."""

    def __init__(self, answer: ResearchResult | None = None, steps: tuple[Progress, ...] = STEPS) -> None:
        self.answer = answer or result()
        self.steps = steps
        self.asked: list[tuple[str, str | None, str, ResearchConstraints | None]] = []

    async def research(
        self,
        question: str,
        context: str | None = None,
        depth: str = Depth.BALANCED,
        constraints: ResearchConstraints | None = None,
        *,
        progress: ProgressSink = ignore_progress,
    ) -> ResearchResult:
        self.asked.append((question, context, depth, constraints))
        for step in self.steps:
            await progress(step)
        return self.answer


class EndlessResearcher:
    """Runs until it is cancelled, then sets `stopped`."""

    def __init__(self) -> None:
        self.started = anyio.Event()
        self.stopped = anyio.Event()

    async def research(
        self,
        question: str,
        context: str | None = None,
        depth: str = Depth.BALANCED,
        constraints: ResearchConstraints | None = None,
        *,
        progress: ProgressSink = ignore_progress,
    ) -> ResearchResult:
        try:
            await progress(STEPS[0])
            self.started.set()
            await anyio.sleep_forever()
        finally:
            self.stopped.set()
        raise AssertionError


class FailingResearcher:
    def __init__(self, error: Exception) -> None:
        self.error = error

    async def research(
        self,
        question: str,
        context: str | None = None,
        depth: str = Depth.BALANCED,
        constraints: ResearchConstraints | None = None,
        *,
        progress: ProgressSink = ignore_progress,
    ) -> ResearchResult:
        raise self.error


class FakeRunStore:
    """A store with one run."""

    def text(self, trace_id: str) -> str:
        if trace_id != TRACE_ID:
            raise InvalidInput("a trace id is a UUID, such as " + TRACE_ID)
        return '{"step": 1}\n{"step": 2}\n'

    def reread(self, trace_id: str) -> RunRecord:
        self.text(trace_id)
        entry = TraceEntry(1, "result", "", "", {"result": result().model_dump(mode="json")}, "")
        return RunRecord(trace_id, Archive(Path()), None, [entry])


def scripted_server(researcher: Researcher, service: Service | None = None) -> McpServer:
    purpose = "Knows about one bridge."
    return build_server(researcher, name="scripted", purpose=purpose, store=FakeRunStore(), service=service)


def third_party_server(structured: object, *, contract: str | None = None, tool: str = "research") -> Server[Any]:
    """A server that does not use our library."""

    async def list_tools(_context: object, _params: object) -> ListToolsResult:
        meta = {"marchwarden/contract": contract} if contract else None
        schema = ResearchRequest.model_json_schema()
        output = ResearchResult.model_json_schema()
        return ListToolsResult(tools=[Tool(name=tool, input_schema=schema, output_schema=output, _meta=meta)])

    async def call_tool(_context: object, _params: object) -> CallToolResult:
        return CallToolResult(content=[TextContent(text="done")], structured_content=structured)

    return Server("third party", on_list_tools=list_tools, on_call_tool=call_tool)


@asynccontextmanager
async def serving(
    researcher: Researcher,
    host: str = "127.0.0.1",
    *,
    token: str | None = None,
    service: Service | None = None,
    **options: Any,
) -> AsyncIterator[str]:
    """Serve over HTTP on a free port and yield the URL."""
    announced, urls = anyio.create_memory_object_stream[str](1)
    service = service or Service(
        ServiceConfig(registry=ClientRegistry() if token is None else ClientRegistry.with_token(token))
    )
    server = scripted_server(researcher, service)
    serve = partial(serve_http, server, host, 0, announce=announced.send_nowait, **options)
    with announced, urls:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve)
            with anyio.fail_after(120):
                url = await urls.receive()
            yield url
            tasks.cancel_scope.cancel()
