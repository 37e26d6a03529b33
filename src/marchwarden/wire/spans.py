"""Spans: runs as OpenTelemetry sees them. Without an exporter, which is the normal case, nothing is made of them."""

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

    def answered(self, result: ResearchResult) -> None:
        if not self.span.is_recording():
            return
        self.span.set_attributes(
            {
                "marchwarden.trace_id": result.trace_id,
                "marchwarden.tokens": result.cost_metadata.tokens_used,
                "marchwarden.iterations": result.cost_metadata.iterations_run,
                "marchwarden.citations": len(result.citations),
                "marchwarden.confidence": result.confidence,
                "gen_ai.request.model": result.cost_metadata.model_id,
            }
        )


@contextmanager
def run_span(caller: str, request: ResearchRequest) -> Iterator[RunSpan]:
    """One run. The question itself stays out: it may be nobody's business who looks at spans."""
    with get_tracer(NAME).start_as_current_span("research") as span:
        if span.is_recording():
            span.set_attributes({"marchwarden.client": caller, "marchwarden.depth": request.depth.value})
        yield RunSpan(span)
