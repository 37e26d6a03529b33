"""The research contract, v1: the request every researcher accepts and the result it returns.

Depends on pydantic and on no other module of Marchwarden. Where v1 says "a string", the models accept any string, so
that a third-party researcher may use its own values. The enums hold the values this project uses. Docstrings of models
are part of the JSON schemas.
"""

from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

CONTRACT_VERSION: Final = "v1"
MAX_QUESTION: Final = 500
MAX_CONTEXT: Final = 2000
MAX_EXCERPT: Final = 500
NON_TEXT_EXCERPT: Final = "[non-text source]"
CUT: Final = "[...]"


class Depth(StrEnum):
    SHALLOW = "shallow"
    BALANCED = "balanced"
    DEEP = "deep"


class GapCategory(StrEnum):
    SOURCE_NOT_FOUND = "source_not_found"
    ACCESS_DENIED = "access_denied"
    BUDGET_EXHAUSTED = "budget_exhausted"
    CONTRADICTORY_SOURCES = "contradictory_sources"
    SCOPE_EXCEEDED = "scope_exceeded"


class DiscoveryType(StrEnum):
    RELATED_RESEARCH = "related_research"
    NEW_SOURCE = "new_source"
    CONTRADICTION = "contradiction"


class Priority(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Authority(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Recency(StrEnum):
    CURRENT = "current"
    RECENT = "recent"
    DATED = "dated"


class _ResponseModel(BaseModel):
    """Base of what a researcher returns: frozen, ignores fields that a newer minor version added."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _RequestModel(BaseModel):
    """Base of what a caller sends: frozen, rejects unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ResearchConstraints(_RequestModel):
    """The limits of one call. The server enforces them; the mind inside is never trusted to."""

    max_iterations: Annotated[int, Field(ge=1, le=20, strict=True)] = 5
    token_budget: Annotated[int, Field(ge=1000, strict=True)] = 20_000
    max_sources: Annotated[int, Field(ge=1, strict=True)] = 10
    source_filter: str | None = Field(default=None, description="Comma-separated domains or suffixes: .gov,.edu")
    max_wall_time_sec: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)] | None = Field(
        default=None, description="Seconds; the depth decides when absent"
    )

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains and suffixes of `source_filter` in lower case."""
        return tuple(part for each in (self.source_filter or "").split(",") if (part := each.strip().lower()))


DEPTH_PRESETS: Final[Mapping[str, Mapping[str, int]]] = {
    Depth.SHALLOW: {"max_iterations": 2, "token_budget": 5_000, "max_sources": 5},
    Depth.BALANCED: {"max_iterations": 5, "token_budget": 20_000, "max_sources": 10},
    Depth.DEEP: {"max_iterations": 8, "token_budget": 60_000, "max_sources": 20},
}


def depth_or_balanced(depth: str) -> Depth:
    """Convert to `Depth`. An unknown depth means balanced; the MCP server and the command line reject it earlier."""
    return Depth(depth) if depth in set(Depth) else Depth.BALANCED


def constraints_for_depth(depth: str = Depth.BALANCED, **overrides: object) -> ResearchConstraints:
    """Return the preset of a depth, changed by every override that is not None."""
    given = {name: value for name, value in overrides.items() if value is not None}
    return ResearchConstraints.model_validate({**DEPTH_PRESETS[depth_or_balanced(depth)], **given})


class ResearchRequest(_RequestModel):
    """One call, checked: what a door accepts before any researcher sees it."""

    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUESTION)]
    context: Annotated[str, StringConstraints(max_length=MAX_CONTEXT)] | None = None
    depth: Depth = Depth.BALANCED
    constraints: ResearchConstraints | None = None

    def limits(self) -> ResearchConstraints:
        """Return the preset of the depth, changed by the constraints the caller set explicitly."""
        given = self.constraints.model_dump(exclude_unset=True) if self.constraints else {}
        return constraints_for_depth(self.depth, **given)


class Citation(_ResponseModel):
    """One verbatim excerpt of something fetched. `text_hash`, `start` and `end` say where it stands in the archive.

    `researcher` is who found it, where several were asked.
    """

    source: str
    locator: str
    title: str | None = None
    snippet: str | None = None
    raw_excerpt: str
    confidence: float = Field(ge=0, le=1)
    content_hash: str | None = None
    text_hash: str | None = None
    start: int | None = Field(default=None, ge=0)
    end: int | None = Field(default=None, ge=0)
    published: date | None = None
    authority: str | None = None
    researcher: str | None = None


class Gap(_ResponseModel):
    """Something the answer lacks. `locator` is the document or search that failed, where the gap is about one."""

    topic: str
    category: GapCategory
    detail: str
    locator: str | None = None


class SourceConflict(_ResponseModel):
    """Two citations that differ about the same thing. `one` and `other` are their numbers in the answer, from 1."""

    topic: str
    kind: str
    stance: str
    one: int = Field(ge=1)
    other: int = Field(ge=1)


class DiscoveryEvent(_ResponseModel):
    type: str
    suggested_researcher: str | None = None
    query: str
    reason: str
    source_locator: str | None = None


class OpenQuestion(_ResponseModel):
    question: str
    context: str
    priority: str
    source_locator: str | None = None


class ConfidenceFactors(_ResponseModel):
    num_corroborating_sources: int = Field(ge=0)
    source_authority: str
    contradiction_detected: bool
    query_specificity_match: float = Field(ge=0, le=1)
    budget_exhausted: bool
    recency: str | None = None


class CostMetadata(_ResponseModel):
    """What a run cost. `model_id` wrote the answer; `requested_model_id` is the model that could not, if any.

    `indexing_sec` is the time to index files before the run. `wall_time_sec` does not include it.
    """

    tokens_used: int = Field(ge=0)
    iterations_run: int = Field(ge=0)
    wall_time_sec: float = Field(ge=0)
    budget_exhausted: bool
    model_id: str
    requested_model_id: str | None = None
    indexing_sec: float | None = Field(default=None, ge=0)


class Dispatch(_ResponseModel):
    """What a PI asked of one researcher, why, and what came of it. `trace_id` is the researcher's own run."""

    researcher: str
    question: str
    reason: str
    outcome: str
    trace_id: str | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    tokens_used: int = Field(default=0, ge=0)


class ResearchResult(_ResponseModel):
    """What every researcher returns. `trace_complete` is false when the disk refused part of the trace.

    `dispatches` is who was asked what, where several were asked.
    """

    answer: str
    citations: tuple[Citation, ...] = ()
    gaps: tuple[Gap, ...] = ()
    discovery_events: tuple[DiscoveryEvent, ...] = ()
    open_questions: tuple[OpenQuestion, ...] = ()
    confidence: float = Field(ge=0, le=1)
    confidence_factors: ConfidenceFactors
    cost_metadata: CostMetadata
    trace_id: str
    trace_complete: bool = True
    dispatches: tuple[Dispatch, ...] = ()
    conflicts: tuple[SourceConflict, ...] = ()

    def _repr_html_(self) -> str:
        """Return the HTML that notebooks show. Imported on demand."""
        from marchwarden.reports.notebook_repr import result_html  # noqa: PLC0415 - only a notebook pays for it

        return result_html(self)
