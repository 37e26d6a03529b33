"""Run the MCP Inspector and the official conformance suite against our server.

Both come from the npm registry and are not part of this project. Install them in a folder outside it and set
MARCHWARDEN_NODE_TOOLS to that folder. Otherwise these tests are skipped.
"""

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from marchwarden.contract import ResearchResult
from tests.mcp.conformance import conformance_server
from tests.mcp.held_source import http_url
from tests.mcp.scripted import CHILD, AnsweringResearcher, result, serving

TOOLS = os.environ.get("MARCHWARDEN_NODE_TOOLS", "")
INSTALL = (
    "needs programs from the npm registry: in an empty folder run `npm install node@24`, then `PATH="
    '"$PWD/node_modules/.bin:$PATH" npm install @modelcontextprotocol/inspector@2.12.0 '
    "@modelcontextprotocol/conformance@0.2.0-alpha.12`, and set MARCHWARDEN_NODE_TOOLS to that folder"
)
# The other scenarios call tools, prompts or resources of the suite's own example server.
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)
# All scenarios of the tasks extension except `tasks-mrtr-input`, because a researcher never asks its client, and
# `tasks-status-notifications`, which the suite itself skips.
TASK_SCENARIOS = (
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-request-headers",
    "tasks-dispatch-and-envelope",
    "tasks-required-task-error",
    "tasks-mrtr-composition",
)


class Program:
    """A program from that folder, run with `home` as its working and home directory."""

    def __init__(self, name: str, home: Path) -> None:
        self.path = Path(TOOLS).resolve() / "node_modules" / ".bin" / name
        self.home = home
        if not TOOLS or not self.path.exists():
            pytest.skip(f"{name} {INSTALL}")

    async def output(self, *arguments: str) -> str:
        search = os.pathsep.join([str(self.path.parent), os.environ.get("PATH", "")])
        with anyio.fail_after(180):
            finished = await anyio.run_process(
                [str(self.path), *arguments], cwd=self.home, env={"PATH": search, "HOME": str(self.home)}, check=False
            )
        assert finished.returncode == 0, (finished.stdout + finished.stderr).decode()
        return finished.stdout.decode()


# Skip in fixtures, before a server runs: inside a task group, pytest would not recognise the skip.
@pytest.fixture
def inspector(tmp_path: Path) -> Program:
    return Program("mcp-inspector", tmp_path)


@pytest.fixture
def conformance(tmp_path: Path) -> Program:
    return Program("conformance", tmp_path)


async def inspect(inspector: Program, *arguments: str) -> Any:
    return json.loads(await inspector.output("--cli", *arguments))


async def test_inspector_lists_and_calls_the_tool_over_http(inspector: Program) -> None:
    call = ("--method", "tools/call", "--tool-name", "research", "--tool-arg", "question=When did the bridge open?")
    async with serving(AnsweringResearcher()) as url:
        listed = await inspect(inspector, url, "--transport", "http", "--method", "tools/list")
        reply = await inspect(inspector, url, "--transport", "http", *call)
    assert [tool["name"] for tool in listed["tools"]] == ["research"]
    assert listed["tools"][0]["_meta"] == {"marchwarden/contract": "v1"}
    assert ResearchResult.model_validate_json(json.dumps(reply["structuredContent"]), strict=True) == result()


async def test_inspector_lists_and_calls_the_tool_over_stdio(inspector: Program) -> None:
    child = (*CHILD, "answers")
    listed = await inspect(inspector, *child, "--method", "tools/list")
    call = ("--method", "tools/call", "--tool-name", "research", "--tool-arg", "question=When?")
    reply = await inspect(inspector, *child, *call)
    assert [tool["name"] for tool in listed["tools"]] == ["research"]
    assert ResearchResult.model_validate_json(json.dumps(reply["structuredContent"]), strict=True) == result()


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_conformance_suite_passes_for_a_server_with_one_tool(conformance: Program, scenario: str) -> None:
    async with serving(AnsweringResearcher()) as url:
        output = await conformance.output("server", "--url", url, "--scenario", scenario)
    assert " 0 failed" in output
    assert "Passed: 0/" not in output


@pytest.mark.parametrize("scenario", TASK_SCENARIOS)
async def test_conformance_suite_passes_for_the_tasks_extension(
    conformance: Program, scenario: str, tmp_path: Path
) -> None:
    if scenario not in conformance.path.read_text(encoding="utf-8"):
        pytest.skip(f"this conformance suite has no {scenario}; {INSTALL}")
    async with http_url(conformance_server(tmp_path)) as url:
        output = await conformance.output("server", "--url", url, "--scenario", scenario)
    assert " 0 failed" in output
    assert "Passed: 0/" not in output
