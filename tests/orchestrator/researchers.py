"""Scripted researchers, and PIs that use them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from uuid import uuid4

import anyio

from marchwarden.audit.replay import rerun
from marchwarden.audit.verify import verify
from marchwarden.contract import (
    Citation,
    ConfidenceFactors,
    CostMetadata,
    Depth,
    DiscoveryEvent,
    Gap,
    GapCategory,
    OpenQuestion,
    ResearchConstraints,
    ResearchResult,
    SourceConflict,
)
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.orchestrator.offline import rebuild_pi_offline
from marchwarden.orchestrator.pi import PrincipalInvestigator
from marchwarden.orchestrator.roster import Member, Roster
from marchwarden.protocols import Mind, Progress, ProgressSink, Researcher, ignore_progress
from marchwarden.storage.store import Store

QUESTION = "How long is the main span of the Alder Bridge?"
SPAN = "The main span of the Alder Bridge is 420 metres long."


def cited(excerpt: str = SPAN, locator: str = "https://example.org/bridge", **known: object) -> Citation:
    described = {"source": "web", "locator": locator, "raw_excerpt": excerpt, "confidence": 0.8, **known}
    return Citation.model_validate(described)


def dated(excerpt: str, locator: str, day: str) -> Citation:
    return cited(excerpt, locator, published=date.fromisoformat(day))


def gap(category: GapCategory, topic: str = QUESTION, detail: str = "it was not there") -> Gap:
    return Gap(topic=topic, category=category, detail=detail)


@dataclass(frozen=True)
class Reply:
    """The behaviour of a scripted researcher: its answer and the share of its grant that it spends.

    `after` is a researcher that must have begun before this one answers; one that `hangs` never answers at all.
    """

    citations: Sequence[Citation] = ()
    gaps: Sequence[Gap] = ()
    discoveries: Sequence[DiscoveryEvent] = ()
    questions: Sequence[OpenQuestion] = ()
    conflicts: Sequence[SourceConflict] = ()
    confidence: float = 0.5
    sources: int = 1
    share: float = 0.1
    exhausted: bool = False
    trace_id: str | None = None
    steps: Sequence[str] = ("plan", "conclude")
    after: "ScriptedResearcher | None" = None
    hangs: bool = False
    error: Exception | None = None


@dataclass(frozen=True)
class Asked:
    """One call as the researcher received it."""

    question: str
    context: str | None
    depth: str
    constraints: ResearchConstraints


@dataclass
class ScriptedResearcher:
    """Returns its replies in order, repeating the last one. Records calls and spending."""

    replies: Sequence[Reply] = (Reply(),)
    asked: list[Asked] = field(default_factory=list)
    spent: int = 0
    was_cancelled: bool = False
    began: anyio.Event = field(default_factory=anyio.Event)

    async def research(
        self,
        question: str,
        context: str | None = None,
        depth: str = Depth.BALANCED,
        constraints: ResearchConstraints | None = None,
        *,
        progress: ProgressSink = ignore_progress,
    ) -> ResearchResult:
        assert constraints is not None
        reply = self.replies[min(len(self.asked), len(self.replies) - 1)]
        trace_id = reply.trace_id or str(uuid4())
        self.asked.append(Asked(question, context, depth, constraints))
        try:
            for step in reply.steps:
                await progress(Progress(trace_id, step, f"at {step}"))
            self.began.set()
            tokens = int(reply.share * constraints.token_budget)
            self.spent += tokens
            if reply.after is not None:
                await reply.after.began.wait()
            if reply.hangs:
                await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            self.was_cancelled = True
            raise
        if reply.error is not None:
            raise reply.error
        return _result(reply, trace_id, tokens)


def _result(reply: Reply, trace_id: str, tokens: int) -> ResearchResult:
    return ResearchResult(
        answer="A summary that must not be used.",
        citations=tuple(reply.citations),
        gaps=tuple(reply.gaps),
        discovery_events=tuple(reply.discoveries),
        open_questions=tuple(reply.questions),
        conflicts=tuple(reply.conflicts),
        confidence=reply.confidence,
        confidence_factors=ConfidenceFactors(
            num_corroborating_sources=reply.sources,
            source_authority="medium",
            contradiction_detected=False,
            query_specificity_match=0.8,
            budget_exhausted=reply.exhausted,
        ),
        cost_metadata=CostMetadata(
            tokens_used=tokens,
            iterations_run=1,
            wall_time_sec=0.1,
            budget_exhausted=reply.exhausted,
            model_id="scripted",
        ),
        trace_id=trace_id,
    )


def scripted(*replies: Reply) -> ScriptedResearcher:
    return ScriptedResearcher(replies or (Reply(),))


def citing(*citations: Citation) -> ScriptedResearcher:
    return scripted(Reply(citations))


def member(name: str, researcher: Researcher, scope: str = "", *, given: bool = False) -> Member:
    return Member(name, f"Knows about {scope or 'anything'}.", researcher, tuple(scope.split()), given)


def a_pi(
    folder: Path, researchers: Mapping[str, Researcher] | Sequence[Member], *, mind: Mind | None = None
) -> PrincipalInvestigator:
    """Return a PI over these researchers or members."""
    members = (
        [member(name, each) for name, each in researchers.items()]
        if isinstance(researchers, Mapping)
        else list(researchers)
    )
    embedded = ExtractiveMind()
    return PrincipalInvestigator(Roster(members), mind or embedded, store=Store(folder), fallback=embedded)


async def holds(folder: Path, result: ResearchResult) -> bool:
    """Check that a run verifies, and that its offline re-run is identical."""
    store = Store(folder)
    unproved = [check for check in verify(store, result.trace_id) if not check.proved]
    again = await rerun(store, result.trace_id, ExtractiveMind(), rebuild_pi_offline)
    assert unproved == []
    assert again.differences == ()
    return True
