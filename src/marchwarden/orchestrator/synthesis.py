"""Add team information to the PI's result: who found what, failed dispatches, and open leads of researchers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from marchwarden.contract import (
    Citation,
    DiscoveryEvent,
    Gap,
    GapCategory,
    OpenQuestion,
    ResearchResult,
    SourceConflict,
)
from marchwarden.evidence.grounding import Grounded
from marchwarden.orchestrator.comparison import read_differently
from marchwarden.orchestrator.dispatch import DispatchOutcome
from marchwarden.orchestrator.evidence import CitedExcerpt, Provenance
from marchwarden.orchestrator.task_queue import CompletedAssignment, needs_human

MOST_QUESTIONS: Final = 5
MOST_DISCOVERIES: Final = 10


@dataclass(frozen=True)
class TeamFindings:
    """Everything that the dispatches of a run returned."""

    outcomes: Sequence[DispatchOutcome]
    answers: Sequence[CompletedAssignment]
    cited: Sequence[CitedExcerpt]

    def failures(self, checked: Grounded) -> tuple[Gap, ...]:
        """Return gaps for failed dispatches, unresolved gaps of researchers, and sources read differently."""
        failed = [_failure_gap(each) for each in self.outcomes if each.error and not each.error.called_off]
        manual = [gap for answer in self.answers for gap in _manual_gaps(answer, checked)]
        unanswered = [each for each in self.answers if not self._was_answered_by_another(each)]
        missed = [gap for each in unanswered for gap in _researcher_gaps(each, GapCategory.SCOPE_EXCEEDED)]
        if not checked.citations:
            missed += [gap for each in self.answers for gap in _researcher_gaps(each, GapCategory.SOURCE_NOT_FOUND)]
        return (*failed, *manual, *read_differently(self.cited), *missed)

    def _was_answered_by_another(self, answered: CompletedAssignment) -> bool:
        return any(
            other.result.citations and other.assignment.question == answered.assignment.question
            for other in self.answers
            if other.member is not answered.member
        )

    def extended(self, result: ResearchResult) -> ResearchResult:
        """Add who found what, the log of dispatches, and the leads and open questions of the researchers."""
        provenance = Provenance.from_citations(self.cited)
        asked_questions = {each.assignment.question for each in self.answers}
        followed = asked_questions | {each.assignment.query for each in self.answers}
        return result.model_copy(
            update={
                "citations": tuple(provenance.with_researcher(citation) for citation in result.citations),
                "discovery_events": _discoveries(result, self.answers, followed),
                "open_questions": _questions(result, self.answers, asked_questions),
                "dispatches": tuple(each.to_contract() for each in self.outcomes),
            }
        )


def _failure_gap(outcome: DispatchOutcome) -> Gap:
    detail = outcome.error.detail if outcome.error else ""
    name = outcome.sent.member.name
    return Gap(topic=name, category=GapCategory.ACCESS_DENIED, detail=f"{name} returned no answer: {detail}")


def _researcher_gaps(answered: CompletedAssignment, category: GapCategory) -> Iterable[Gap]:
    name = answered.member.name
    for gap in answered.result.gaps:
        if gap.category is category:
            yield gap.model_copy(update={"detail": f"{name}: {gap.detail}"})


def _manual_gaps(answered: CompletedAssignment, checked: Grounded) -> Iterator[Gap]:
    """Yield the gaps that need manual follow-up, except conflicts that the PI's own comparison reports."""
    for gap in needs_human(answered):
        if not _is_reported(gap, answered.result, checked):
            tried = f"(needs manual follow-up; tried: {answered.member.name})"
            yield gap.model_copy(update={"detail": f"{gap.detail} {tried}"})


def _is_reported(gap: Gap, result: ResearchResult, checked: Grounded) -> bool:
    if gap.category is not GapCategory.CONTRADICTORY_SOURCES:
        return False
    if not result.conflicts:
        return any(all(quote in gap.detail for quote in quotes) for quotes in map(_quotes, checked.gaps) if quotes)
    theirs = [_sides(each, result.citations) for each in result.conflicts if each.topic == gap.topic]
    ours = [_sides(each, checked.citations) for each in checked.conflicts if each.stance == "contradicts"]
    return any(_are_same(one, other) for one in ours for other in theirs)


def _quotes(gap: Gap) -> list[str]:
    """Return the quotations in the detail of a gap. Only for old runs, whose results have no field for conflicts."""
    return [part.split("”")[0] for part in gap.detail.split("“")[1:]]


def _sides(conflict: SourceConflict, citations: Sequence[Citation]) -> tuple[str, str]:
    """Return both excerpts, or empty texts if the result does not contain the citations."""
    excerpts = [each.raw_excerpt for each in citations]
    if max(conflict.one, conflict.other) > len(excerpts):
        return "", ""
    return excerpts[conflict.one - 1], excerpts[conflict.other - 1]


def _are_same(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Compare two conflicts. The excerpt of one may be part of the excerpt of the other."""
    return all((*one, *other)) and any(
        all(first in second or second in first for first, second in zip(one, sides, strict=True))
        for sides in (other, other[::-1])
    )


def _discoveries(
    result: ResearchResult, answers: Sequence[CompletedAssignment], followed: set[str]
) -> tuple[DiscoveryEvent, ...]:
    """Combine the PI's discoveries with those of researchers that were not followed up."""
    theirs = [event for each in answers for event in each.result.discovery_events if event.query not in followed]
    unique = {(event.type, event.query): event for event in (*result.discovery_events, *theirs)}
    return tuple(unique.values())[:MOST_DISCOVERIES]


def _questions(
    result: ResearchResult, answers: Sequence[CompletedAssignment], asked_questions: set[str]
) -> tuple[OpenQuestion, ...]:
    theirs = [
        each for answered in answers for each in answered.result.open_questions if each.question not in asked_questions
    ]
    unique = {each.question: each for each in (*result.open_questions, *theirs)}
    return tuple(unique.values())[:MOST_QUESTIONS]
