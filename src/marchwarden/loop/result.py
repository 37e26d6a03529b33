"""Build the `ResearchResult` from a draft, its grounding and the facts of the run."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from marchwarden.contract import ConfidenceFactors, CostMetadata, Gap, GapCategory, ResearchResult
from marchwarden.core.budget import Budget
from marchwarden.core.notebook import Draft, Notebook
from marchwarden.evidence.confidence import Rubric, recency
from marchwarden.evidence.grounding import Grounded, highest_authority
from marchwarden.evidence.leads import discover_in_links

MODEL_TOPIC: Final = "model"
"""Topic of the gaps that report failed calls of a model."""

# Only the loop knows whether the budget ran out, and only grounding whether sources disagree.
_NOT_DECIDED_BY_MINDS: Final = frozenset({GapCategory.BUDGET_EXHAUSTED, GapCategory.CONTRADICTORY_SOURCES})


@dataclass(frozen=True)
class RunFacts:
    """Facts about a run after its conclusion."""

    trace_id: str
    source: str
    model_id: str
    requested_model_id: str
    began_on: date
    elapsed: float
    failures: tuple[Gap, ...]
    left_out: tuple[str, ...]
    indexing_sec: float | None
    rubric: Rubric


def build_result(
    draft: Draft, checked: Grounded, notebook: Notebook, budget: Budget, facts: RunFacts
) -> ResearchResult:
    """Combine the grounded answer with gaps, leads and confidence."""
    found = (*checked.discoveries, *notebook.discoveries)
    weights = factors(draft, checked, budget, facts.began_on)
    return ResearchResult(
        answer=checked.answer,
        citations=checked.citations,
        gaps=tuple(_gaps(draft, checked, notebook, budget, facts)),
        discovery_events=(*found, *discover_in_links(checked.documents, found)),
        open_questions=draft.open_questions,
        conflicts=checked.conflicts,
        confidence=facts.rubric.score(weights),
        confidence_factors=weights,
        cost_metadata=CostMetadata(
            tokens_used=budget.tokens_used,
            iterations_run=budget.iterations_run,
            wall_time_sec=round(facts.elapsed, 3),
            indexing_sec=facts.indexing_sec,
            budget_exhausted=budget.exhausted,
            model_id=facts.model_id,
            requested_model_id=facts.requested_model_id if facts.requested_model_id != facts.model_id else None,
        ),
        trace_id=facts.trace_id,
    )


def factors(draft: Draft, checked: Grounded, budget: Budget, today: date) -> ConfidenceFactors:
    """Compute the factors of the confidence."""
    dates = [document.published for document in checked.documents if document.published]
    return ConfidenceFactors(
        num_corroborating_sources=checked.independent_sources,
        source_authority=highest_authority(checked.documents),
        contradiction_detected=checked.contradicted,
        query_specificity_match=round(min(max(draft.match, 0.0), 1.0), 3),
        budget_exhausted=budget.exhausted,
        recency=recency(max(dates), today) if dates else None,
    )


def _gaps(draft: Draft, checked: Grounded, notebook: Notebook, budget: Budget, facts: RunFacts) -> Sequence[Gap]:
    gaps = [gap for gap in draft.gaps if gap.category not in _NOT_DECIDED_BY_MINDS]
    gaps += [*checked.gaps, *facts.failures]
    gaps += [Gap(topic=facts.source, category=GapCategory.ACCESS_DENIED, detail=each) for each in facts.left_out]
    if budget.exhausted:
        short = "; ".join(budget.shortages)
        gaps.append(Gap(topic=notebook.question, category=GapCategory.BUDGET_EXHAUSTED, detail=short))
    if not checked.citations and not gaps:
        read = f"{len(notebook.documents)} documents were read" if notebook.documents else "no document was found"
        detail = f"{read}; none answers this."
        gaps.append(Gap(topic=notebook.question, category=GapCategory.SOURCE_NOT_FOUND, detail=detail))
    return list(dict.fromkeys(gaps))
