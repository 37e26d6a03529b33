"""Our HTTP server under 2 000 calls at once, beside a bare one on the same SDK; and one client over its quota.

    python -m benchmarks.service [CALLS]

Both servers are processes of their own and hold every call until all are in flight, then answer with the same result.
Ours checks a token, counts, joins, notes each run in its ledger and measures itself meanwhile. CPU is the server's, by
the kernel's clock, and so without that of who calls.
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
ALLOWED = 1.3
GREEDY = "greedy"
GREEDY_A_MINUTE = 60
DEAF_A_SECOND = 100
MODEST_CALLS = 200
QUOTA_ROUNDS = 6
REFUSED, REFUSED_AT_ONCE = 2_000, 50
TOLD = {
    "alone": "alone",
    "patient": "beside one over its quota that comes again when it is told to",
    "next door": f"while a server next door gets {DEAF_A_SECOND} a second where {GREEDY_A_MINUTE} a minute are allowed",
    "deaf": "while its own server gets them",
}
_TICKS = os.sysconf("SC_CLK_TCK")


def serve_ours(folder: str, calls: int) -> None:
    (everybody,) = ClientRegistry.with_token(TOKEN).callers
    (greedy,) = ClientRegistry.with_token(GREEDY).callers
    limited = ServiceClient("greedy", greedy.digest, calls_per_minute=GREEDY_A_MINUTE)
    guests = ClientRegistry((ServiceClient("all", everybody.digest), limited))
    house = ServiceConfig(ServiceLimits(concurrent=calls, queued=calls), guests)
    service = Service(house, Path(folder) / "calls.sqlite")
    server = build_server(Holding(calls), name="bench", purpose="Answers.", service=service)

    def announce(url: str) -> None:
        tune_garbage_collector()
        print(url, flush=True)

    anyio.run(partial(serve_http, server, "127.0.0.1", 0, announce=announce))


def serve_bare(calls: int) -> None:
    holding = Holding(calls)
    tool = Tool(
        name="research",
        input_schema=ResearchRequest.model_json_schema(),
        output_schema=ResearchResult.model_json_schema(),
    )

    async def list_tools(_context: object, _params: object) -> ListToolsResult:
        return ListToolsResult(tools=[tool])

    async def call_tool(_context: object, params: Any) -> CallToolResult:
        await holding.hold(params.arguments["question"])
        answer = result()
        return CallToolResult(
            content=[TextContent(text=answer.model_dump_json())], structured_content=answer.model_dump(mode="json")
        )

    # Without the schema at hand the SDK would list all tools for every call: a bare server, but not a careless one.
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


class Holding:
    """A researcher that answers when all calls are there; a question that begins with `now` is answered at once."""

    def __init__(self, calls: int) -> None:
        self.calls = calls
        self.here = 0
        self.all_here = anyio.Event()

    async def hold(self, question: str) -> None:
        if question.startswith("now"):
            return
        self.here += 1
        all_here = self.all_here
        if self.here == self.calls:
            self.here, self.all_here = 0, anyio.Event()
            all_here.set()
        await all_here.wait()

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


def is_refused(raw: bytes) -> bool:
    return raw.startswith(b"HTTP/1.1 429")


def retry_after(raw: bytes) -> int:
    found = re.search(rb"\r\nretry-after: (\d+)\r\n", raw, re.IGNORECASE)
    return int(found[1]) if found else 0


async def in_flight(served: Served, calls: int, number: int) -> tuple[float, int]:
    """CPU milliseconds a call, and how many calls went wrong."""
    before = served.cpu()
    answers = await asyncio.gather(*(call(served.port, f"question {number} {at}") for at in range(calls)))
    return (served.cpu() - before) * 1000 / calls, sum(not is_answer(answer) for answer in answers)


async def beside(folder: str, calls: int) -> float:
    costs: dict[str, list[float]] = {"bare": [], "ours": []}
    with running("bare", folder, calls) as bare, running("ours", folder, calls) as ours:
        both = {"bare": bare, "ours": ours}
        idle = {name: served.memory("VmRSS") for name, served in both.items()}
        for served in both.values():
            await asyncio.gather(*(call(served.port, f"now {at}") for at in range(50)))
        wrong = 0
        for number in range(ROUNDS):
            for name, served in both.items():
                cost, errors = await in_flight(served, calls, number)
                costs[name].append(cost)
                wrong += errors
        for name, served in both.items():
            print(
                f"{name}: {statistics.median(costs[name]):.2f} ms of CPU a call, {calls} in flight; memory"
                f" {idle[name]:.0f} MB idle, {served.memory('VmHWM'):.0f} MB at most"
            )
    ratio = statistics.median(costs["ours"]) / statistics.median(costs["bare"])
    print(f"ours / bare: {ratio:.2f} (at most {ALLOWED}); {wrong} errors in {2 * ROUNDS * calls} calls")
    return ratio


async def modest(port: int, label: str) -> list[float]:
    """How many milliseconds each call of a client within its quota takes, one after the other."""
    took = []
    for at in range(MODEST_CALLS):
        began = time.perf_counter()
        assert is_answer(await call(port, f"now {label} {at}"))
        took.append((time.perf_counter() - began) * 1000)
    return took


async def over_quota(folder: str) -> None:
    """The calls of a client within its quota: alone, and while another asks for more than it may.

    Whoever calls needs the machine's cores too. What that takes shows while the other's calls go to a server next door;
    what the server itself lacks is the difference to that.
    """
    manners = {manner: Measured() for manner in TOLD}
    with running("ours", f"{folder}/here", CALLS) as served, running("ours", f"{folder}/there", CALLS) as another:
        await modest(served.port, "warm")
        for server in (served, another):
            while not is_refused(await call(server.port, "now greedy", GREEDY)):
                pass
        for number in range(QUOTA_ROUNDS):
            for manner, measured in manners.items():
                called = another if manner == "next door" else served
                with beside_another(called.port, manner) as counted:
                    measured.took += await modest(served.port, f"{manner} {number}")
                measured.count(counted())
        refused = await cost_of_refusing(served)
    print("a client within its quota, a call at a time, in milliseconds:")
    for manner, measured in manners.items():
        print(f"  {TOLD[manner]}: {measured}")
    print(f"  a call that is refused costs the server {refused:.2f} ms of CPU")


@dataclass
class Measured:
    """What one client waited for its calls, and what became of another's meanwhile."""

    took: list[float] = field(default_factory=list)
    sent: int = 0
    refused: int = 0

    def count(self, told: tuple[int, int]) -> None:
        self.sent += told[0]
        self.refused += told[1]

    def __str__(self) -> str:
        twentieths = statistics.quantiles(self.took, n=20)
        other = f"; of the other's {self.sent} calls {self.refused} were refused" if self.sent else ""
        return f"p50 {statistics.median(self.took):.1f}, p95 {twentieths[-1]:.1f}{other}"


@contextmanager
def beside_another(port: int, manner: str) -> Iterator[Callable[[], tuple[int, int]]]:
    """Another process that asks too much; asked afterwards, how often it called, and how often in vain."""
    if manner == "alone":
        yield lambda: (0, 0)
        return
    command = [sys.executable, "-m", "benchmarks.service", "--greedy", manner, str(port)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()

        def counted() -> tuple[int, int]:
            sent, refused = told.split()
            return int(sent), int(refused)

        yield counted
        process.stdin.close()
        told = process.stdout.read()


async def greedy(port: int, manner: str) -> None:
    """Call until standard input ends: the patient wait as they are told, others do not even wait for an answer."""
    answers: list[bytes] = []
    ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    print("calling", flush=True)

    async def one() -> None:
        answers.append(await call(port, "now greedy", GREEDY))

    async with asyncio.TaskGroup() as calls:
        while not ended.done():
            if manner != "patient":
                calls.create_task(one())
                await asyncio.sleep(1 / DEAF_A_SECOND)
            else:
                await one()
                await asyncio.wait([ended], timeout=retry_after(answers[-1]))
    print(len(answers), sum(map(is_refused, answers)))


async def cost_of_refusing(served: Served) -> float:
    before = served.cpu()
    for _ in range(REFUSED // REFUSED_AT_ONCE):
        answers = await asyncio.gather(*(call(served.port, "now", GREEDY) for _ in range(REFUSED_AT_ONCE)))
    assert is_refused(answers[-1])
    return (served.cpu() - before) * 1000 / REFUSED


def main(calls: int = CALLS) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(beside(folder, calls))
        asyncio.run(over_quota(folder))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--serve", kind, folder, calls]:
            resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
            serve_ours(folder, int(calls)) if kind == "ours" else serve_bare(int(calls))
        case ["--greedy", manner, port]:
            asyncio.run(greedy(int(port), manner))
        case [calls]:
            main(int(calls))
        case _:
            main()
