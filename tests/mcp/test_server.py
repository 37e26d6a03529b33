"""Any researcher as an MCP server with one tool, asked in process by the SDK's own client."""

import logging
from itertools import pairwise
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp_types import CallToolResult, TextContent, TextResourceContents

from marchwarden.contract import CONTRACT_VERSION, ResearchConstraints, ResearchRequest, ResearchResult
from marchwarden.errors import ResearcherUnavailable
from marchwarden.protocols import Researcher
from tests.mcp.scripted import STEPS, TRACE_ID, Answering, Endless, Failing, result, server_of

BOTH_ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


async def call(researcher: Researcher, arguments: dict[str, Any], mode: Any = "auto") -> CallToolResult:
    async with Client(server_of(researcher), mode=mode) as client:
        return await client.call_tool("research", arguments)


def said(reply: CallToolResult) -> str:
    assert isinstance(reply.content[0], TextContent)
    return reply.content[0].text


@BOTH_ERAS
async def test_the_server_lists_exactly_one_tool_with_contract_purpose_and_schemas(mode: Any) -> None:
    async with Client(server_of(Answering()), mode=mode) as client:
        (tool,) = (await client.list_tools()).tools
    assert tool.name == "research"
    assert tool.meta == {"marchwarden/contract": CONTRACT_VERSION}
    assert tool.description is not None
    assert tool.description.startswith("Knows about one bridge.")
    assert tool.input_schema == ResearchRequest.model_json_schema()
    assert tool.input_schema["additionalProperties"] is False
    assert tool.output_schema == ResearchResult.model_json_schema()


@BOTH_ERAS
async def test_an_answer_is_structured_fits_the_listed_schema_and_says_the_same_as_text(mode: Any) -> None:
    async with Client(server_of(Answering()), mode=mode) as client:
        await client.list_tools()  # the client now holds every answer against the listed schema
        reply = await client.call_tool("research", {"question": "When did the bridge open?"})
    assert not reply.is_error
    assert ResearchResult.model_validate(reply.structured_content) == result()
    assert ResearchResult.model_validate_json(said(reply)) == result()


async def test_the_researcher_gets_what_was_asked_and_only_the_constraints_that_were_given() -> None:
    researcher = Answering()
    constraints = {"token_budget": 5000}
    await call(researcher, {"question": " q ", "context": "c", "depth": "deep", "constraints": constraints})
    ((question, context, depth, given),) = researcher.asked
    assert (question, context, depth) == ("q", "c", "deep")
    assert given == ResearchConstraints(token_budget=5000)
    assert given.model_fields_set == {"token_budget"}


@BOTH_ERAS
async def test_progress_arrives_in_order_always_rises_and_carries_the_trace_id_from_the_first(mode: Any) -> None:
    heard: list[tuple[float, float | None, str]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message or ""))

    async with Client(server_of(Answering()), mode=mode) as client:
        await client.call_tool("research", {"question": "q"}, progress_callback=hear)
    assert [line.split(":")[0] for _, _, line in heard] == [step.step for step in STEPS]
    assert heard[0][2] == f"plan: 2 queries [iteration 1, 0 sources, trace {TRACE_ID}]"
    assert all(TRACE_ID in line and total == 20_000 for _, total, line in heard)
    assert all(earlier[0] < later[0] for earlier, later in pairwise(heard))
    assert [int(progress) for progress, _, _ in heard] == [step.tokens_used for step in STEPS]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({}, "question is required"),
        ({"question": ""}, "question must not be empty"),
        ({"question": "   "}, "question must not be empty"),
        ({"question": "x" * 501}, "question may have at most 500 characters, not 501"),
        ({"question": 5}, "question must be text, not 5"),
        ({"question": "lone \ud800"}, "question must be valid UTF-8 text"),
        ({"question": "q", "context": "x" * 2001}, "context may have at most 2000 characters, not 2001"),
        ({"question": "q", "depth": "abyss"}, "depth must be 'shallow', 'balanced' or 'deep', not 'abyss'"),
        ({"question": "q", "budget": 1}, "unknown argument budget (allowed: question, context, depth, constraints)"),
        ({"question": "q", "constraints": "none"}, "constraints must be an object, not 'none'"),
        (
            {"question": "q", "constraints": {"max_iterations": "0"}},
            "constraints.max_iterations must be a whole number, not '0'",
        ),
        (
            {"question": "q", "constraints": {"token_budget": 10}},
            "constraints.token_budget must be at least 1000, not 10",
        ),
        (
            {"question": "q", "constraints": {"max_iterations": 21}},
            "constraints.max_iterations must be at most 20, not 21",
        ),
        (
            {"question": "q", "constraints": {"max_wall_time_sec": "10"}},
            "constraints.max_wall_time_sec must be a number, not '10'",
        ),
        (
            {"question": "q", "constraints": {"tokens": 1}},
            f"unknown argument constraints.tokens (allowed: {', '.join(ResearchConstraints.model_fields)})",
        ),
        (
            {"question": "q", "constraints": {"source_filter": "\udfff"}},
            "the arguments must be valid UTF-8 text",
        ),
    ],
)
async def test_a_bad_argument_is_refused_in_one_line_that_says_what_is_allowed(
    arguments: dict[str, Any], line: str
) -> None:
    researcher = Answering()
    reply = await call(researcher, arguments)
    assert reply.is_error
    assert said(reply) == line
    assert reply.meta is not None
    assert reply.meta["marchwarden/refusal"] == "invalid_input"
    assert researcher.asked == []


@BOTH_ERAS
async def test_an_unknown_tool_is_refused_by_name(mode: Any) -> None:
    async with Client(server_of(Answering()), mode=mode) as client:
        with pytest.raises(MCPError, match="there is no tool 'search'; the only one is 'research'"):
            await client.call_tool("search", {"question": "q"})


@BOTH_ERAS
async def test_a_known_failure_is_told_in_its_own_line(mode: Any) -> None:
    reply = await call(Failing(ResearcherUnavailable("the archive\nis closed")), {"question": "q"}, mode)
    assert reply.is_error
    assert said(reply) == "the archive is closed"


@BOTH_ERAS
async def test_an_unexpected_failure_shows_nothing_of_the_inside_and_is_logged(
    mode: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, logger="marchwarden.mcp.server"):
        reply = await call(Failing(KeyError("secret-key-of-ours")), {"question": "q"}, mode)
    assert reply.is_error
    assert said(reply) == "the researcher failed unexpectedly; the log of its server says why"
    assert "secret-key-of-ours" in caplog.text


@BOTH_ERAS
async def test_cancelling_the_call_stops_the_researcher_and_leaves_the_server_usable(mode: Any) -> None:
    researcher = Endless()
    async with Client(server_of(researcher), mode=mode) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "research", {"question": "q"})
            with anyio.fail_after(120):
                await researcher.started.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(120):
            await researcher.stopped.wait()
        assert len((await client.list_tools()).tools) == 1


@BOTH_ERAS
async def test_the_trace_is_a_resource_template_and_can_be_read(mode: Any) -> None:
    async with Client(server_of(Answering()), mode=mode) as client:
        trace, finished = (await client.list_resource_templates()).resource_templates
        (contents,) = (await client.read_resource(f"trace://{TRACE_ID}")).contents
        listed = (await client.list_resources()).resources
    assert [trace.uri_template, finished.uri_template] == ["trace://{trace_id}", "result://{trace_id}"]
    assert listed == []
    assert isinstance(contents, TextResourceContents)
    assert contents.text == '{"step": 1}\n{"step": 2}\n'


@BOTH_ERAS
@pytest.mark.parametrize("uri", ["trace://../../etc/passwd", "trace://", "file:///etc/passwd"])
async def test_any_other_resource_is_refused_in_one_line(mode: Any, uri: str) -> None:
    async with Client(server_of(Answering()), mode=mode) as client:
        with pytest.raises(
            MCPError, match=r"a trace id is a UUID|only trace://<trace id> and result://<trace id> can be read"
        ):
            await client.read_resource(uri)
