"""Programs written by others, against a server of ours: the MCP Inspector and the official conformance suite.

Both come from the npm registry and are no part of this project. Install them in any folder outside it and name that
folder in MARCHWARDEN_NODE_TOOLS; without it these tests are skipped.
"""

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from marchwarden.contract import ResearchResult
from tests.mcp.conformance import conforming
from tests.mcp.held_source import at_an_address
from tests.mcp.scripted import CHILD, Answering, result, serving

TOOLS = os.environ.get("MARCHWARDEN_NODE_TOOLS", "")
INSTALL = (
    "needs programs from the npm registry: in an empty folder run `npm install node@24`, then `PATH="
    '"$PWD/node_modules/.bin:$PATH" npm install @modelcontextprotocol/inspector@2.12.0 '
    "@modelcontextprotocol/conformance@0.2.0-alpha.12`, and set MARCHWARDEN_NODE_TOOLS to that folder"
)
# The others call tools, prompts or resources by the names of the suite's own example server.
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)
# Of the tasks extension all but `tasks-mrtr-input`, because a researcher never asks its caller back, and
# `tasks-status-notifications`, which the suite itself skips.
TASKS = (
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
    """A program of that folder, run at home in a folder of its own."""

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


# Skipping happens in fixtures, before any server runs: raised inside a task group it would not look like a skip.
@pytest.fixture
def inspector(tmp_path: Path) -> Program:
    return Program("mcp-inspector", tmp_path)


@pytest.fixture
def conformance(tmp_path: Path) -> Program:
    return Program("conformance", tmp_path)


async def inspected(inspector: Program, *arguments: str) -> Any:
    return json.loads(await inspector.output("--cli", *arguments))


async def test_the_inspector_sees_one_tool_and_gets_a_structured_answer_over_http(inspector: Program) -> None:
    asked = ("--method", "tools/call", "--tool-name", "research", "--tool-arg", "question=When did the bridge open?")
    async with serving(Answering()) as url:
        listed = await inspected(inspector, url, "--transport", "http", "--method", "tools/list")
        reply = await inspected(inspector, url, "--transport", "http", *asked)
    assert [tool["name"] for tool in listed["tools"]] == ["research"]
    assert listed["tools"][0]["_meta"] == {"marchwarden/contract": "v1"}
    assert ResearchResult.model_validate_json(json.dumps(reply["structuredContent"]), strict=True) == result()


async def test_the_inspector_sees_one_tool_and_gets_a_structured_answer_over_stdio(inspector: Program) -> None:
    child = (*CHILD, "answers")
    listed = await inspected(inspector, *child, "--method", "tools/list")
    asked = ("--method", "tools/call", "--tool-name", "research", "--tool-arg", "question=When?")
    reply = await inspected(inspector, *child, *asked)
    assert [tool["name"] for tool in listed["tools"]] == ["research"]
    assert ResearchResult.model_validate_json(json.dumps(reply["structuredContent"]), strict=True) == result()


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_the_conformance_suite_passes_what_applies_to_a_server_of_one_tool(
    conformance: Program, scenario: str
) -> None:
    async with serving(Answering()) as url:
        told = await conformance.output("server", "--url", url, "--scenario", scenario)
    assert " 0 failed" in told
    assert "Passed: 0/" not in told


@pytest.mark.parametrize("scenario", TASKS)
async def test_the_conformance_suite_passes_the_tasks_extension(
    conformance: Program, scenario: str, tmp_path: Path
) -> None:
    if scenario not in conformance.path.read_text(encoding="utf-8"):
        pytest.skip(f"this conformance suite has no {scenario}; {INSTALL}")
    async with at_an_address(conforming(tmp_path)) as url:
        told = await conformance.output("server", "--url", url, "--scenario", scenario)
    assert " 0 failed" in told
    assert "Passed: 0/" not in told
