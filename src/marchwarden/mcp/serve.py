"""Serve a researcher on stdio or over HTTP until the process is stopped. Blocking; for the `serve` commands."""

import gc
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Final

import anyio

from marchwarden.errors import InvalidInput
from marchwarden.mcp.clients import ClientRegistry, ServiceConfig
from marchwarden.mcp.http_server import serve_http
from marchwarden.mcp.resources import ReadableRuns
from marchwarden.mcp.server import build_server
from marchwarden.mcp.service import Service
from marchwarden.mcp.stdio_server import serve_stdio
from marchwarden.protocols import Researcher
from marchwarden.settings import Settings
from marchwarden.storage.store import Store, folder_failure

MAX_PORT: Final = 65_535
CALL_STORE_FILE: Final = "calls.sqlite"
GC_THRESHOLDS: Final = (20_000, 20, 20)
OTLP_VARIABLES: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


@dataclass(frozen=True)
class ServeOptions:
    """The options of a `serve` command. Without an address the server uses stdio."""

    address: str | None = None
    token_env: str | None = None
    service_file: str | None = None
    allowed_hosts: Sequence[str] = ()

    def service(self, settings: Settings) -> Service:
        """Build the service: no token, one token for all clients, or a file with the token of each client."""
        if self.address is None:
            if self.service_file is not None:
                raise InvalidInput("--service needs a server with an address: add --http HOST:PORT")
            return Service()
        token = settings.secret(self.token_env)
        if token is not None and self.service_file is not None:
            raise InvalidInput("the service file names the token of each client: remove --token-env")
        if self.service_file is not None:
            config = ServiceConfig.load(Path(self.service_file), settings.environ)
        else:
            config = ServiceConfig(registry=ClientRegistry() if token is None else ClientRegistry.with_token(token))
        folder = Store.at(settings.trace_dir, settings.environ).folder
        # Calls are stored in memory if the folder is not writable.
        return Service(config, None if folder_failure(folder) else folder / CALL_STORE_FILE)


def serve(
    researcher: Researcher, store: ReadableRuns, *, name: str, purpose: str, options: ServeOptions, settings: Settings
) -> None:
    """Serve on stdio, or at `HOST:PORT`. The URL is printed to stderr when the server accepts connections."""
    server = build_server(researcher, name=name, purpose=purpose, store=store, service=options.service(settings))
    if options.address is None:
        anyio.run(serve_stdio, server)
        return
    host, port = _parse_address(options.address)
    with export_spans(settings.environ):
        anyio.run(partial(serve_http, server, host, port, allowed_hosts=options.allowed_hosts, announce=_announce))


def _parse_address(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or int(port) > MAX_PORT:
        raise InvalidInput(f"{address!r} is not an address; write it as HOST:PORT, for example 127.0.0.1:8730")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _announce(url: str) -> None:
    tune_garbage_collector()
    sys.stderr.write(f"serving at {url}\n")
    sys.stderr.flush()


def tune_garbage_collector() -> None:
    """Exclude objects from startup and collect less often.

    With 2,000 concurrent calls, garbage collection took a quarter of the server's CPU time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


@contextmanager
def export_spans(environ: Mapping[str, str]) -> Iterator[None]:
    """Send a span for every request and run to an OpenTelemetry collector.

    The standard OTEL_* variables set the endpoint. Without them, no spans are sent and no library is loaded.
    """
    if not any(environ.get(name) for name in OTLP_VARIABLES):
        yield
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.trace import set_tracer_provider
    except ImportError as error:
        raise InvalidInput("sending spans needs the `otel` extra: pip install 'marchwarden[otel]'") from error
    attributes = {
        "service.name": environ.get("OTEL_SERVICE_NAME") or "marchwarden",
        "service.version": version("marchwarden"),
    }
    provider = TracerProvider(resource=Resource.create(attributes), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()
