"""Spans are sent to the configured endpoint. Without one, no library is loaded."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytestmark = pytest.mark.slow

SCRIPT = """
import anyio, os, sys
from mcp import Client
from marchwarden.mcp.serve import export_spans
from tests.mcp.scripted import AnsweringResearcher, scripted_server

async def ask():
    async with Client(scripted_server(AnsweringResearcher())) as client:
        assert not (await client.call_tool("research", {"question": "a confidential question"})).is_error

with export_spans(os.environ):
    anyio.run(ask)
print("opentelemetry.sdk" in sys.modules)
"""


class Collector(ThreadingHTTPServer):
    """An OTLP collector that keeps the request bodies."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Inbox)
        self.bodies: list[bytes] = []


class Inbox(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Collector)
        self.server.bodies.append(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the standard library
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def run_server(**variables: str) -> str:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    finished = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**inherited, **variables},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return finished.stdout.strip()


def test_runs_are_exported_as_spans_without_the_question(collector: Collector) -> None:
    pytest.importorskip("opentelemetry.sdk", reason="needs the extra: pip install 'marchwarden[otel]'")
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest  # noqa: PLC0415

    port = collector.server_address[1]
    assert run_server(OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{port}", NO_PROXY="127.0.0.1") == "True"
    spans = {}
    for body in collector.bodies:
        assert b"a confidential question" not in body
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            assert 'key: "service.name"' in str(resource.resource)
            spans.update({span.name: span for scope in resource.scope_spans for span in scope.spans})
    research, call = spans["research"], spans["tools/call research"]
    assert research.parent_span_id == call.span_id
    attributes = {each.key: each.value for each in research.attributes}
    assert attributes["marchwarden.tokens"].int_value == 120
    assert attributes["marchwarden.client"].string_value == "anybody"


def test_sdk_is_not_loaded_without_an_endpoint() -> None:
    assert run_server() == "False"
