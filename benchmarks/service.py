"""Compare the HTTP server with a bare server on the same SDK under 2,000 concurrent calls, and measure quotas.

    python -m benchmarks.service [CALLS]

Both servers are processes that hold every call until all have arrived and then return the same result. Marchwarden also
checks a token, counts, joins calls, stores each run and collects metrics. CPU time is that of the server process,
without the client.
"""

import asyncio
import json
import os
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp.server import Server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.mcp.clients import ClientRegistry, ServiceClient, ServiceConfig, ServiceLimits
from marchwarden.mcp.http_server import serve_http
from marchwarden.mcp.serve import tune_garbage_collector
from marchwarden.mcp.server import build_server
from marchwarden.mcp.service import Service
from tests.mcp.scripted import STEPS, result

CALLS = 2_000
ROUNDS = 3
TOKEN = "benchmark"
MAX_RATIO = 1.3
GREEDY = "greedy"
GREEDY_PER_MINUTE = 60
FLOOD_PER_SECOND = 100
CALLS_WITHIN_QUOTA = 200
QUOTA_ROUNDS = 6
REJECTED, REJECTED_IN_PARALLEL = 2_000, 50
SCENARIOS = {
    "alone": "alone",
    "patient": "with a client over its quota that respects Retry-After",
    "other server": f"with a client (quota {GREEDY_PER_MINUTE}/min) that sends {FLOOD_PER_SECOND}/s to another server",
    "flood": "with the same client on this server",
}
_TICKS = os.sysconf("SC_CLK_TCK")


def serve_marchwarden(folder: str, calls: int) -> None:
    (allowed,) = ClientRegistry.with_token(TOKEN).clients
    (greedy,) = ClientRegistry.with_token(GREEDY).clients
    limited = ServiceClient("greedy", greedy.digest, calls_per_minute=GREEDY_PER_MINUTE)
    registry = ClientRegistry((ServiceClient("all", allowed.digest), limited))
    config = ServiceConfig(ServiceLimits(concurrent=calls, queued=calls), registry)
    service = Service(config, Path(folder) / "calls.sqlite")
    server = build_server(WaitingResearcher(calls), name="bench", purpose="Answers.", service=service)

    def announce(url: str) -> None:
        tune_garbage_collector()
        print(url, flush=True)

    anyio.run(partial(serve_http, server, "127.0.0.1", 0, announce=announce))


def serve_bare(calls: int) -> None:
    researcher = WaitingResearcher(calls)
    tool = Tool(
        name="research",
        input_schema=ResearchRequest.model_json_schema(),
        output_schema=ResearchResult.model_json_schema(),
    )

    async def list_tools(_context: object, _params: object) -> ListToolsResult:
        return ListToolsResult(tools=[tool])

    async def call_tool(_context: object, params: Any) -> CallToolResult:
        await researcher.hold(params.arguments["question"])
        answer = result()
        return CallToolResult(
            content=[TextContent(text=answer.model_dump_json())], structured_content=answer.model_dump(mode="json")
        )

    # Without the schema, the SDK would list all tools for every call, which would be an unfair comparison.
    schemas = {"research": tool.input_schema}
    server: Server[Any] = Server(
        "bare", get_tool_input_schema=schemas.get, on_list_tools=list_tools, on_call_tool=call_tool
    )
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        port = listener.getsockname()[1]
        print(f"http://127.0.0.1:{port}/mcp", flush=True)
        config = uvicorn.Config(server.streamable_http_app(), log_config=None, access_log=False, backlog=2048)
        uvicorn.Server(config).run(sockets=[listener])


class WaitingResearcher:
    """A researcher that waits for all calls. Questions that start with `now` are answered immediately."""

    def __init__(self, calls: int) -> None:
        self.calls = calls
        self.arrived = 0
        self.all_arrived = anyio.Event()

    async def hold(self, question: str) -> None:
        if question.startswith("now"):
            return
        self.arrived += 1
        all_arrived = self.all_arrived
        if self.arrived == self.calls:
            self.arrived, self.all_arrived = 0, anyio.Event()
            all_arrived.set()
        await all_arrived.wait()

    async def research(self, question: str, *_asked: object, progress: Any = None) -> Any:
        for step in STEPS:
            await progress(step)
        await self.hold(question)
        return result()


@dataclass(frozen=True)
class Served:
    """A server under test."""

    port: int
    pid: int

    def cpu(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def memory(self, what: str) -> float:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(what))


@contextmanager
def running(kind: str, folder: str, calls: int) -> Iterator[Served]:
    command = [sys.executable, "-m", "benchmarks.service", "--serve", kind, folder, str(calls)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        try:
            yield Served(int(url.rpartition(":")[2].removesuffix("/mcp")), process.pid)
        finally:
            process.kill()


def request(port: int, question: str, token: str) -> bytes:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "research", "arguments": {"question": question}, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\nauthorization: Bearer {token}\r\n"
        "accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n"
        "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: research\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def call(port: int, question: str, token: str = TOKEN) -> bytes:
    reading, writing = await asyncio.open_connection("127.0.0.1", port)
    writing.write(request(port, question, token))
    answer = await reading.read()
    writing.close()
    return answer


def is_answer(raw: bytes) -> bool:
    return raw.startswith(b"HTTP/1.1 200") and b'"structuredContent"' in raw and b'"isError":true' not in raw


def is_rejected(raw: bytes) -> bool:
    return raw.startswith(b"HTTP/1.1 429")


def retry_after(raw: bytes) -> int:
    found = re.search(rb"\r\nretry-after: (\d+)\r\n", raw, re.IGNORECASE)
    return int(found[1]) if found else 0


async def in_flight(served: Served, calls: int, number: int) -> tuple[float, int]:
    """Return CPU milliseconds per call and the number of failed calls."""
    before = served.cpu()
    answers = await asyncio.gather(*(call(served.port, f"question {number} {at}") for at in range(calls)))
    return (served.cpu() - before) * 1000 / calls, sum(not is_answer(answer) for answer in answers)


async def compare_servers(folder: str, calls: int) -> float:
    costs: dict[str, list[float]] = {"bare": [], "marchwarden": []}
    with running("bare", folder, calls) as bare, running("marchwarden", folder, calls) as marchwarden:
        both = {"bare": bare, "marchwarden": marchwarden}
        idle = {name: served.memory("VmRSS") for name, served in both.items()}
        for served in both.values():
            await asyncio.gather(*(call(served.port, f"now {at}") for at in range(50)))
        failed = 0
        for number in range(ROUNDS):
            for name, served in both.items():
                cost, errors = await in_flight(served, calls, number)
                costs[name].append(cost)
                failed += errors
        for name, served in both.items():
            print(
                f"{name}: {statistics.median(costs[name]):.2f} ms of CPU per call, {calls} in flight; memory"
                f" {idle[name]:.0f} MB idle, {served.memory('VmHWM'):.0f} MB peak"
            )
    ratio = statistics.median(costs["marchwarden"]) / statistics.median(costs["bare"])
    print(f"marchwarden / bare: {ratio:.2f} (limit {MAX_RATIO}); {failed} errors in {2 * ROUNDS * calls} calls")
    return ratio


async def time_calls(port: int, label: str) -> list[float]:
    """Return the milliseconds of each sequential call of a client within its quota."""
    took = []
    for at in range(CALLS_WITHIN_QUOTA):
        began = time.perf_counter()
        assert is_answer(await call(port, f"now {label} {at}"))
        took.append((time.perf_counter() - began) * 1000)
    return took


async def measure_quotas(folder: str) -> None:
    """Time a client within its quota, alone and while another client exceeds its quota.

    The other client also uses CPU. To separate this from the load on the server, it also calls a second server.
    """
    measurements = {scenario: Measured() for scenario in SCENARIOS}
    with (
        running("marchwarden", f"{folder}/here", CALLS) as served,
        running("marchwarden", f"{folder}/there", CALLS) as another,
    ):
        await time_calls(served.port, "warm")
        for server in (served, another):
            while not is_rejected(await call(server.port, "now greedy", GREEDY)):
                pass
        for number in range(QUOTA_ROUNDS):
            for scenario, measured in measurements.items():
                called = another if scenario == "other server" else served
                with other_client(called.port, scenario) as counted:
                    measured.took += await time_calls(served.port, f"{scenario} {number}")
                measured.count(counted())
        refused = await cost_of_rejecting(served)
    print("client within its quota, sequential calls, in milliseconds:")
    for scenario, measured in measurements.items():
        print(f"  {SCENARIOS[scenario]}: {measured}")
    print(f"  a rejected call costs the server {refused:.2f} ms of CPU")


@dataclass
class Measured:
    """Latencies of one client, and the outcome of the other client's calls."""

    took: list[float] = field(default_factory=list)
    sent: int = 0
    refused: int = 0

    def count(self, counts: tuple[int, int]) -> None:
        self.sent += counts[0]
        self.refused += counts[1]

    def __str__(self) -> str:
        twentieths = statistics.quantiles(self.took, n=20)
        other = f"; {self.refused} of {self.sent} calls of the other client were rejected" if self.sent else ""
        return f"p50 {statistics.median(self.took):.1f}, p95 {twentieths[-1]:.1f}{other}"


@contextmanager
def other_client(port: int, scenario: str) -> Iterator[Callable[[], tuple[int, int]]]:
    """Run a process that exceeds its quota. The yielded function returns its calls and rejections afterwards."""
    if scenario == "alone":
        yield lambda: (0, 0)
        return
    command = [sys.executable, "-m", "benchmarks.service", "--greedy", scenario, str(port)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()

        def counted() -> tuple[int, int]:
            sent, refused = output.split()
            return int(sent), int(refused)

        yield counted
        process.stdin.close()
        output = process.stdout.read()


async def greedy(port: int, scenario: str) -> None:
    """Call until standard input closes. A patient client respects Retry-After; others do not wait for the answer."""
    answers: list[bytes] = []
    ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    print("calling", flush=True)

    async def one() -> None:
        answers.append(await call(port, "now greedy", GREEDY))

    async with asyncio.TaskGroup() as calls:
        while not ended.done():
            if scenario != "patient":
                calls.create_task(one())
                await asyncio.sleep(1 / FLOOD_PER_SECOND)
            else:
                await one()
                await asyncio.wait([ended], timeout=retry_after(answers[-1]))
    print(len(answers), sum(map(is_rejected, answers)))


async def cost_of_rejecting(served: Served) -> float:
    before = served.cpu()
    for _ in range(REJECTED // REJECTED_IN_PARALLEL):
        answers = await asyncio.gather(*(call(served.port, "now", GREEDY) for _ in range(REJECTED_IN_PARALLEL)))
    assert is_rejected(answers[-1])
    return (served.cpu() - before) * 1000 / REJECTED


def main(calls: int = CALLS) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(compare_servers(folder, calls))
        asyncio.run(measure_quotas(folder))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--serve", kind, folder, calls]:
            resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
            serve_marchwarden(folder, int(calls)) if kind == "marchwarden" else serve_bare(int(calls))
        case ["--greedy", scenario, port]:
            asyncio.run(greedy(int(port), scenario))
        case [calls]:
            main(int(calls))
        case _:
            main()
