"""The MCP server with its one tool, called in process by the SDK's client."""

import logging
from itertools import pairwise
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp_types import CallToolResult, TextContent, TextResourceContents

from marchwarden.contract import CONTRACT_VERSION, ResearchConstraints, ResearchRequest, ResearchResult
from marchwarden.errors import ResearcherUnavailable
from marchwarden.protocols import Progress, Researcher
from marchwarden.text.sanitize import visible
from tests.mcp.scripted import (
    STEPS,
    TRACE_ID,
    AnsweringResearcher,
    EndlessResearcher,
    FailingResearcher,
    result,
    scripted_server,
)

BOTH_PROTOCOLS = pytest.mark.parametrize("mode", ["auto", "legacy"])


async def call(researcher: Researcher, arguments: dict[str, Any], mode: Any = "auto") -> CallToolResult:
    async with Client(scripted_server(researcher), mode=mode) as client:
        return await client.call_tool("research", arguments)


def text_of(reply: CallToolResult) -> str:
    assert isinstance(reply.content[0], TextContent)
    return reply.content[0].text


@BOTH_PROTOCOLS
async def test_server_lists_one_tool_with_contract_purpose_and_schemas(mode: Any) -> None:
    async with Client(scripted_server(AnsweringResearcher()), mode=mode) as client:
        (tool,) = (await client.list_tools()).tools
    assert tool.name == "research"
    assert tool.meta == {"marchwarden/contract": CONTRACT_VERSION}
    assert tool.description is not None
    assert tool.description.startswith("Knows about one bridge.")
    assert tool.input_schema == ResearchRequest.model_json_schema()
    assert tool.input_schema["additionalProperties"] is False
    assert tool.output_schema == ResearchResult.model_json_schema()


@BOTH_PROTOCOLS
async def test_answer_is_valid_structured_content_and_the_same_as_text(mode: Any) -> None:
    async with Client(scripted_server(AnsweringResearcher()), mode=mode) as client:
        await client.list_tools()  # the client now validates every answer with the listed schema
        reply = await client.call_tool("research", {"question": "When did the bridge open?"})
    assert not reply.is_error
    assert ResearchResult.model_validate(reply.structured_content) == result()
    assert ResearchResult.model_validate_json(text_of(reply)) == result()


async def test_text_content_escapes_what_a_terminal_would_hide_or_interpret() -> None:
    answered = result("The bri\u200bdge \x9b2J \u202eopened\ufe0f in 1932 [1].")
    steps = (Progress(TRACE_ID, "read", "3 pas\u00adsages\u200b", 1, 120, 20_000, 1),)
    messages: list[str] = []

    async def collect(progress: float, total: float | None, message: str | None) -> None:
        messages.append(message or "")

    async with Client(scripted_server(AnsweringResearcher(answered, steps))) as client:
        reply = await client.call_tool("research", {"question": "q"}, progress_callback=collect)
    assert visible(text_of(reply)) == text_of(reply)
    assert ResearchResult.model_validate_json(text_of(reply)) == answered
    assert ResearchResult.model_validate(reply.structured_content) == answered
    assert [message.partition(" [")[0] for message in messages] == ["read: 3 passages"]


async def test_researcher_gets_only_the_constraints_that_were_set() -> None:
    researcher = AnsweringResearcher()
    constraints = {"token_budget": 5000}
    await call(researcher, {"question": " q ", "context": "c", "depth": "deep", "constraints": constraints})
    ((question, context, depth, given),) = researcher.asked
    assert (question, context, depth) == ("q", "c", "deep")
    assert given == ResearchConstraints(token_budget=5000)
    assert given.model_fields_set == {"token_budget"}


@BOTH_PROTOCOLS
async def test_progress_is_ordered_increasing_and_contains_the_trace_id(mode: Any) -> None:
    updates: list[tuple[float, float | None, str]] = []

    async def collect(progress: float, total: float | None, message: str | None) -> None:
        updates.append((progress, total, message or ""))

    async with Client(scripted_server(AnsweringResearcher()), mode=mode) as client:
        await client.call_tool("research", {"question": "q"}, progress_callback=collect)
    assert [line.split(":")[0] for _, _, line in updates] == [step.step for step in STEPS]
    assert updates[0][2] == f"plan: 2 queries [iteration 1, 0 sources, trace {TRACE_ID}]"
    assert all(TRACE_ID in line and total == 20_000 for _, total, line in updates)
    assert all(earlier[0] < later[0] for earlier, later in pairwise(updates))
    assert [int(progress) for progress, _, _ in updates] == [step.tokens_used for step in STEPS]


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
            {"question": "q", "constraints": {"source_filter": ".gov,???"}},
            (
                "constraints.source_filter: '???' is not a domain; "
                "separate domains or suffixes by commas, such as .gov,example.org"
            ),
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
async def test_invalid_argument_is_rejected_with_what_is_allowed(arguments: dict[str, Any], line: str) -> None:
    researcher = AnsweringResearcher()
    reply = await call(researcher, arguments)
    assert reply.is_error
    assert text_of(reply) == line
    assert reply.meta is not None
    assert reply.meta["marchwarden/refusal"] == "invalid_input"
    assert researcher.asked == []


@BOTH_PROTOCOLS
async def test_unknown_tool_is_rejected(mode: Any) -> None:
    async with Client(scripted_server(AnsweringResearcher()), mode=mode) as client:
        with pytest.raises(MCPError, match="there is no tool 'search'; the only one is 'research'"):
            await client.call_tool("search", {"question": "q"})


@BOTH_PROTOCOLS
async def test_failure_of_the_researcher_is_returned_as_one_line(mode: Any) -> None:
    reply = await call(FailingResearcher(ResearcherUnavailable("the archive\nis closed")), {"question": "q"}, mode)
    assert reply.is_error
    assert text_of(reply) == "the archive is closed"


@BOTH_PROTOCOLS
async def test_unexpected_failure_is_logged_and_hides_internals(mode: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, logger="marchwarden.mcp.server"):
        reply = await call(FailingResearcher(KeyError("secret-key")), {"question": "q"}, mode)
    assert reply.is_error
    assert text_of(reply) == "the researcher failed unexpectedly; see the log of its server"
    assert "secret-key" in caplog.text


@BOTH_PROTOCOLS
async def test_cancelling_stops_the_researcher_and_leaves_the_server_usable(mode: Any) -> None:
    researcher = EndlessResearcher()
    async with Client(scripted_server(researcher), mode=mode) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "research", {"question": "q"})
            with anyio.fail_after(120):
                await researcher.started.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(120):
            await researcher.stopped.wait()
        assert len((await client.list_tools()).tools) == 1


@BOTH_PROTOCOLS
async def test_trace_is_a_resource_template_and_can_be_read(mode: Any) -> None:
    async with Client(scripted_server(AnsweringResearcher()), mode=mode) as client:
        trace, finished = (await client.list_resource_templates()).resource_templates
        (contents,) = (await client.read_resource(f"trace://{TRACE_ID}")).contents
        listed = (await client.list_resources()).resources
    assert [trace.uri_template, finished.uri_template] == ["trace://{trace_id}", "result://{trace_id}"]
    assert listed == []
    assert isinstance(contents, TextResourceContents)
    assert contents.text == '{"step": 1}\n{"step": 2}\n'


@BOTH_PROTOCOLS
@pytest.mark.parametrize("uri", ["trace://../../etc/passwd", "trace://", "file:///etc/passwd"])
async def test_other_resources_are_rejected(mode: Any, uri: str) -> None:
    async with Client(scripted_server(AnsweringResearcher()), mode=mode) as client:
        with pytest.raises(
            MCPError, match=r"a trace id is a UUID|only trace://<trace id> and result://<trace id> can be read"
        ):
            await client.read_resource(uri)
