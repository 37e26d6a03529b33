"""Synthesis: a conclusion over everybody's evidence turned into one result that says who found what.

The same grounding and the same landing as any researcher's; added are the quarrels between researchers, what they left
open, and the log of dispatches.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from marchwarden.contract import DiscoveryEvent, Gap, GapCategory, OpenQuestion, ResearchResult
from marchwarden.evidence.grounding import Grounded
from marchwarden.orchestrator.comparison import read_differently
from marchwarden.orchestrator.dispatch import DispatchOutcome
from marchwarden.orchestrator.evidence import Cited, Provenance
from marchwarden.orchestrator.task_queue import CompletedAssignment, needs_human

MOST_QUESTIONS: Final = 5
MOST_DISCOVERIES: Final = 10


@dataclass(frozen=True)
class TeamFindings:
    """Everything that came back from a run's dispatches."""

    returned: Sequence[DispatchOutcome]
    answers: Sequence[CompletedAssignment]
    cited: Sequence[Cited]

    def failures(self, checked: Grounded) -> tuple[Gap, ...]:
        """Who gave no answer, what only a person can settle, what is beyond everybody, what was missed of nothing."""
        silent = [_silent(each) for each in self.returned if each.error and not each.error.called_off]
        told = {gap.detail for gap in checked.gaps}
        quarrels = [gap for gap in needs_human(self.answers) if not _told_already(gap, told)]
        beyond = [each for each in self.answers if not self._was_answered_by_another(each)]
        missed = [gap for each in beyond for gap in _missed(each, GapCategory.SCOPE_EXCEEDED)]
        if not checked.citations:
            missed += [gap for each in self.answers for gap in _missed(each, GapCategory.SOURCE_NOT_FOUND)]
        return (*silent, *quarrels, *read_differently(self.cited), *missed)

    def _was_answered_by_another(self, answered: CompletedAssignment) -> bool:
        errand = answered.errand
        return any(
            other.result.citations and other.errand.question == errand.question
            for other in self.answers
            if other.errand.member is not errand.member
        )

    def extended(self, result: ResearchResult) -> ResearchResult:
        """With who found what, who was asked what, and what the researchers came across and left open."""
        provenance = Provenance.of(self.cited)
        asked = {each.errand.question for each in self.answers}
        return result.model_copy(
            update={
                "citations": tuple(provenance.named(citation) for citation in result.citations),
                "discovery_events": _discoveries(result, self.answers, asked),
                "open_questions": _questions(result, self.answers, asked),
                "dispatches": tuple(each.told() for each in self.returned),
            }
        )


def _silent(returned: DispatchOutcome) -> Gap:
    detail = returned.error.detail if returned.error else ""
    name = returned.sent.errand.member.name
    return Gap(topic=name, category=GapCategory.ACCESS_DENIED, detail=f"{name} gave no answer: {detail}")


def _missed(answered: CompletedAssignment, category: GapCategory) -> Iterable[Gap]:
    name = answered.errand.member.name
    for gap in answered.result.gaps:
        if gap.category is category:
            yield gap.model_copy(update={"detail": f"{name}: {gap.detail}"})


def _told_already(gap: Gap, told: Iterable[str]) -> bool:
    """Whether our own comparison found the same quarrel: both of its excerpts stand in the researcher's words."""
    if gap.category is not GapCategory.CONTRADICTORY_SOURCES:
        return False
    return any(all(quote in gap.detail for quote in _quotes(detail)) for detail in told if _quotes(detail))


def _quotes(detail: str) -> list[str]:
    return [part.split("”")[0] for part in detail.split("“")[1:]]


def _discoveries(
    result: ResearchResult, answers: Sequence[CompletedAssignment], asked: set[str]
) -> tuple[DiscoveryEvent, ...]:
    """Ours first; of theirs what was not looked into."""
    theirs = [event for each in answers for event in each.result.discovery_events if not _looked_into(event, asked)]
    unique = {(event.type, event.query): event for event in (*result.discovery_events, *theirs)}
    return tuple(unique.values())[:MOST_DISCOVERIES]


def _looked_into(event: DiscoveryEvent, asked: set[str]) -> bool:
    return event.query in asked or any(question.endswith(f"({event.query})") for question in asked)


def _questions(
    result: ResearchResult, answers: Sequence[CompletedAssignment], asked: set[str]
) -> tuple[OpenQuestion, ...]:
    theirs = [each for answered in answers for each in answered.result.open_questions if each.question not in asked]
    unique = {each.question: each for each in (*result.open_questions, *theirs)}
    return tuple(unique.values())[:MOST_QUESTIONS]
