"""Loopback services that answer with mutants: the services of the test world, and a third-party MCP server.

The number of a mutant is part of the URL, or of the IP address where a URL cannot hold it. The same number always
gives the same mutations.
"""

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Final
from urllib.parse import urlsplit
from zlib import crc32

from marchwarden.contract import CONTRACT_VERSION
from marchwarden.mcp.protocol import CONTRACT_KEY, TOOL
from tests.mcp.scripted import result
from tests.mutation.replies import json_text, mutate_bytes, mutate_json, mutate_reply
from tests.world.search import json_reply
from tests.world.server import Behaviour, Handler, Reply, Request
from tests.world.world import World

MUTATED: Final = ("tavily", "searxng", "wikipedia", "arxiv", "anthropic", "openai", "google")
PAGE_SITE: Final = "mutant-pages"
MCP_SITE: Final = "mutant-mcp"
MUTATION_SHARE: Final = 0.7
"""Share of the replies to one mutant's requests that are mutated."""
_PREFIX: Final = re.compile(r"/mutant/(\d+)(/.*)")
_ANY_ADDRESS: Final = "0.0.0.0"
_MCP_VERSION: Final = "2025-11-25"


class Mutating:
    """Serves the replies of another handler, mutated below `/mutant/NUMBER`."""

    def __init__(self, handler: Handler, seed: str) -> None:
        self._handler = handler
        self._seed = seed

    def __call__(self, request: Request) -> Reply | Behaviour:
        match = _PREFIX.fullmatch(request.target)
        if match is None:
            return self._handler(request)
        return self.mutated(int(match[1]), replace(request, target=match[2]))

    def mutated(self, number: int, request: Request) -> Reply | Behaviour:
        reply = self._handler(request)
        chance = Random(f"{self._seed} {number} {request.target} {crc32(request.body)}")
        if not isinstance(reply, Reply) or chance.random() > MUTATION_SHARE:
            return reply
        return mutate_reply(reply, chance).behave()


class MutatingByAddress(Mutating):
    """Takes the number of the mutant from the IP address that was called, so that robots.txt is mutated as well."""

    def __call__(self, request: Request) -> Reply | Behaviour:
        return self.mutated(number_of_address(request.headers.get("host", "")), request)


class MutantWorld(World):
    """The test world with mutants of its services, of a web page and of an MCP server."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed: Final = seed

    def _listen(self, key: str, handler: Handler, host: str = "127.0.0.1") -> None:
        mutated = any(key.startswith(each) for each in MUTATED)
        super()._listen(key, Mutating(handler, f"{self.seed} {key}") if mutated else handler, host)

    def _populate(self, closed: str) -> None:
        super()._populate(closed)
        super()._listen(PAGE_SITE, MutatingByAddress(_serve_page, f"{self.seed} pages"), _ANY_ADDRESS)
        super()._listen(MCP_SITE, Mutating(serve_mcp, f"{self.seed} mcp"))

    def url(self, key: str) -> str:
        """The URL of a page. `mutant-page-7` is the page of mutant 7."""
        number = key.removeprefix("mutant-page-")
        return f"http://{self.page_netloc(int(number))}/page" if number != key else super().url(key)

    def page_netloc(self, number: int) -> str:
        return f"{address_of_number(number)}:{urlsplit(self.origin(PAGE_SITE)).port}"

    def mutant_url(self, site: str, number: int) -> str:
        """The base URL of a service that answers with a mutant."""
        return f"{self.origin(site)}/mutant/{number}"


def address_of_number(number: int) -> str:
    """The loopback address of a mutant, above those of the test world."""
    return f"127.{64 + (number >> 16) % 128}.{(number >> 8) % 256}.{number % 256}"


def number_of_address(netloc: str) -> int:
    parts = netloc.partition(":")[0].split(".")
    return ((int(parts[1]) - 64) << 16) + (int(parts[2]) << 8) + int(parts[3])


_PAGE: Final = b"""<!doctype html><html><head><title>The ferry of Holm</title>
<meta name="author" content="I. Quist"><meta property="article:published_time" content="2024-05-06"></head>
<body><nav><a href="/">Home</a></nav><article><h1>The ferry of Holm</h1>
<p>The ferry of Holm carries forty cars. It was built in 1958 and crosses the sound in twelve minutes.</p>
<table><tr><th>Year</th><th>Passengers</th></tr><tr><td>2019</td><td>44,100</td></tr></table>
<ul><li>See <a href="https://doi.org/10.5555/ferry.1">the survey</a>.</li></ul></article></body></html>"""
_ROBOTS: Final = b"User-agent: *\nCrawl-delay: 0\nDisallow: /private\nSitemap: /sitemap.xml\n"


def _serve_page(request: Request) -> Reply:
    if request.path == "/robots.txt":
        return Reply(200, _ROBOTS, (("Content-Type", "text/plain"),))
    caching = (("ETag", '"1"'), ("Last-Modified", "Mon, 06 May 2024 10:00:00 GMT"), ("Cache-Control", "max-age=60"))
    return Reply(200, _PAGE, (("Content-Type", "text/html; charset=utf-8"), *caching))


def serve_mcp(request: Request) -> Reply:
    """A third-party researcher over streamable HTTP that sends plain JSON."""
    if request.method != "POST":
        return Reply(405)
    answered = answer_mcp(json.loads(request.body))
    return Reply(202) if answered is None else json_reply(answered)


def answer_mcp(message: Mapping[str, object]) -> Mapping[str, object] | None:
    """Answer a JSON-RPC message; None for a notification."""
    tool = {"name": TOOL, "description": "Knows about ferries.", "inputSchema": {"type": "object"}}
    replies: Mapping[object, Mapping[str, object]] = {
        "initialize": {
            "protocolVersion": _MCP_VERSION,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "ferries", "version": "1"},
        },
        "tools/list": {"tools": [{**tool, "_meta": {CONTRACT_KEY: CONTRACT_VERSION}}]},
        "tools/call": {
            "content": [{"type": "text", "text": "It opened in 1932."}],
            "structuredContent": result().model_dump(mode="json"),
            "isError": False,
        },
    }
    if "id" not in message:
        return None
    known = replies.get(message["method"])
    outcome = {"result": known} if known else {"error": {"code": -32601, "message": "Method not found"}}
    return {"jsonrpc": "2.0", "id": message["id"], **outcome}


_CHILD: Final = """
import json, sys
replies = json.loads(sys.argv[1])
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        reply = replies.get(message["method"], replies[""]).encode("latin-1")
        sys.stdout.buffer.write(reply.replace(b'"@id"', str(message["id"]).encode()))
        sys.stdout.buffer.flush()
"""


def mutant_command(seed: int, number: int) -> tuple[str, ...]:
    """A command that starts an MCP server over stdio whose replies are mutants."""
    chance = Random(f"{seed} stdio {number}")
    replies = {method: _mutant_line(method, chance) for method in ("initialize", "tools/list", "tools/call", "")}
    return (sys.executable, "-I", "-S", "-c", _CHILD, json.dumps(replies))


def _mutant_line(method: str, chance: Random) -> str:
    message = answer_mcp({"id": "@id", "method": method})
    if chance.random() > MUTATION_SHARE:
        return json.dumps(message) + "\n"
    kind = chance.choice(("json", "json", "json", "bytes", "noise"))
    mutant = mutate_json(message, chance) if kind == "json" else message
    line = json_text(mutant).encode()
    line = mutate_bytes(line, chance) if kind == "bytes" else line
    noise = b"Loading...\n\xff\xfe\n" if kind == "noise" else b""
    # An argument of a process cannot be longer.
    return (noise + line)[:100_000].replace(b"\x00", b"").decode("latin-1") + "\n"
