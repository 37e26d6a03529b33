"""OpenTelemetry spans of runs. They record nothing unless an exporter is set up, see `serve.export_spans`."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from opentelemetry.trace import Span, get_tracer

from marchwarden.contract import ResearchRequest, ResearchResult

NAME: Final = "marchwarden"


@dataclass(frozen=True)
class RunSpan:
    span: Span

    def set_result(self, result: ResearchResult) -> None:
        if not self.span.is_recording():
            return
        self.span.set_attributes(
            {
                "marchwarden.trace_id": result.trace_id,
                "marchwarden.tokens": result.cost_metadata.tokens_used,
                "marchwarden.iterations": result.cost_metadata.iterations_run,
                "marchwarden.citations": len(result.citations),
                "marchwarden.evidence.confidence": result.confidence,
                "gen_ai.request.model": result.cost_metadata.model_id,
            }
        )


class RunTracer:
    """Creates the spans of runs. The tracer is looked up once."""

    def __init__(self) -> None:
        self._tracer = get_tracer(NAME)

    @contextmanager
    def trace_run(self, client: str, request: ResearchRequest) -> Iterator[RunSpan]:
        """Open a span. It does not contain the question, which may be confidential."""
        span = self._tracer.start_span("research")
        if span.is_recording():
            span.set_attributes({"marchwarden.client": client, "marchwarden.depth": request.depth.value})
        try:
            yield RunSpan(span)
        finally:
            span.end()
