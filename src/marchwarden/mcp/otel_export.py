"""Exporting: spans sent to an OpenTelemetry collector, if one is configured. Loads its libraries only then."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import Final

from marchwarden.errors import InvalidInput

ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


@contextmanager
def exporting(environ: Mapping[str, str]) -> Iterator[None]:
    """While this lasts, every request and every run is a span at the endpoint the standard variables name."""
    if not any(environ.get(name) for name in ENDPOINTS):
        yield
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.trace import set_tracer_provider
    except ImportError as error:
        raise InvalidInput("sending spans needs more packages: pip install 'marchwarden[otel]'") from error
    named = {
        "service.name": environ.get("OTEL_SERVICE_NAME") or "marchwarden",
        "service.version": version("marchwarden"),
    }
    provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()
