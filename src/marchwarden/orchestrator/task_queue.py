"""Queue follow-up questions, most promising first.

Turns gaps, discoveries and open questions of results into assignments. Does not dispatch or spend.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from marchwarden.contract import MAX_QUESTION, DiscoveryType, Gap, GapCategory, Priority, ResearchResult
from marchwarden.orchestrator.roster import Member, Roster
from marchwarden.orchestrator.shared_budget import SMALLEST, Grant
from marchwarden.text.words import WordStemmer

WORTH_ASKING: Final = 0.1
"""Minimum expected gain of an assignment: weight of its reason × fit of the member × remaining uncertainty."""
UNANSWERED: Final = 0.9
PARTLY_ANSWERED: Final = 0.4
OTHER_SCOPE: Final = 0.95
MORE_BUDGET: Final = 0.6
RETRY_FACTOR: Final = 2
_DISCOVERIES: Final[Mapping[str, float]] = {
    DiscoveryType.CONTRADICTION: 0.6,
    DiscoveryType.RELATED_RESEARCH: 0.5,
    DiscoveryType.NEW_SOURCE: 0.4,
}
_QUESTIONS: Final[Mapping[str, float]] = {Priority.HIGH: 0.5, Priority.MEDIUM: 0.3, Priority.LOW: 0.1}
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]*")
_LOCATOR_TOPIC: Final = re.compile(r"search: .*|\S*(?:://|/|\.\w)\S*", re.DOTALL)
"""Topics of gaps about a search or document, in results that do not set `Gap.locator`."""
_NEEDS_HUMAN: Final = frozenset({GapCategory.ACCESS_DENIED, GapCategory.CONTRADICTORY_SOURCES})

AssignmentKey = tuple[str, frozenset[str], bool]


@dataclass(frozen=True)
class Assignment:
    """One question for one member, with the reason, the expected gain and the smallest useful grant.

    `query` is the discovery it follows up. `again` marks a second try with more budget.
    """

    member: Member
    question: str
    reason: str
    gain: float
    at_least: Grant = SMALLEST
    again: bool = False
    is_planned: bool = False
    query: str = ""


@dataclass(frozen=True)
class CompletedAssignment:
    """A dispatched assignment and its result."""

    number: int
    assignment: Assignment
    result: ResearchResult
    granted: Grant

    @property
    def member(self) -> Member:
        return self.assignment.member


class TaskQueue:
    """The waiting assignments. A member gets the same question once, or again with more budget."""

    def __init__(self, roster: Roster, question: str) -> None:
        self._roster = roster
        self._question = question
        self._stems = WordStemmer()
        self._uncertainty = 1.0
        self._answers: list[CompletedAssignment] = []
        self._waiting: dict[AssignmentKey, Assignment] = {}
        self._taken: set[AssignmentKey] = set()

    def put(self, assignment: Assignment) -> None:
        """Add an assignment. If it is already waiting, keep the higher gain and both reasons."""
        key = self._key(assignment)
        if key in self._taken:
            return
        known = self._waiting.get(key)
        if known is None:
            self._waiting[key] = assignment
            return
        is_new = assignment.reason not in known.reason
        reason = f"{known.reason}; {assignment.reason}" if is_new else known.reason
        gain, is_planned = max(known.gain, assignment.gain), known.is_planned and not is_new
        self._waiting[key] = replace(known, reason=reason, gain=gain, is_planned=is_planned)

    def take(self) -> Assignment | None:
        """Remove and return the most promising assignment, or None if none is worth asking."""
        found = sorted(self._worth_asking(), key=lambda each: (-each.gain, each.member.name, each.question))
        if not found:
            return None
        key = self._key(found[0])
        self._taken.add(key)
        del self._waiting[key]
        return found[0]

    def waiting(self) -> int:
        return len(self._worth_asking())

    def consider(self, answers: Iterable[CompletedAssignment], uncertainty: float) -> None:
        """Queue follow-ups to these answers. `uncertainty` (0 to 1) is how much further answers can still improve."""
        self._uncertainty = uncertainty
        new = list(answers)
        self._answers += new
        for answer in new:
            for found in (*self._from_gaps(answer), *self._from_discoveries(answer), *self._from_questions(answer)):
                self.put(replace(found, gain=found.gain * answer.assignment.gain))

    def _worth_asking(self) -> list[Assignment]:
        """Return the waiting assignments whose current gain is high enough."""
        rated = [replace(each, gain=round(each.gain * self._uncertainty, 4)) for each in self._waiting.values()]
        return [assignment for assignment in rated if assignment.gain >= WORTH_ASKING]

    def _from_gaps(self, answer: CompletedAssignment) -> Iterator[Assignment]:
        for gap in answer.result.gaps:
            match gap.category:
                case GapCategory.SCOPE_EXCEEDED:
                    yield from self._to_specialist(answer, gap)
                case GapCategory.SOURCE_NOT_FOUND if not _is_about_locator(gap) and not self._is_found(answer, gap):
                    weight = PARTLY_ANSWERED if answer.result.citations else UNANSWERED
                    reason = f"{answer.member.name} did not find it"
                    yield from self._to_another(answer, as_question(gap.topic), weight, reason)
                case GapCategory.BUDGET_EXHAUSTED:
                    yield from self._retry(answer)

    def _is_found(self, answer: CompletedAssignment, gap: Gap) -> bool:
        """Check whether another member has evidence for the same question and does not report this gap."""
        return any(
            other.result.citations and not any(self._same_topic(gap, each) for each in other.result.gaps)
            for other in self._answers
            if other is not answer and other.assignment.question == answer.assignment.question
        )

    def _same_topic(self, one: Gap, other: Gap) -> bool:
        if other.category not in {GapCategory.SOURCE_NOT_FOUND, GapCategory.SCOPE_EXCEEDED}:
            return False
        first, second = set(self._stems.content_stems(one.topic)), set(self._stems.content_stems(other.topic))
        return one.topic == other.topic or 2 * len(first & second) >= max(len(first), 1)

    def _to_specialist(self, answer: CompletedAssignment, gap: Gap) -> Iterator[Assignment]:
        """Ask the member that the result suggests, else the best fitting member."""
        names = [event.suggested_researcher for event in answer.result.discovery_events]
        names += [word for word in _NAME.findall(gap.detail.casefold()) if self._roster.get(word)]
        question, reason = answer.assignment.question, f"out of scope for {answer.member.name}"
        for member in (self._roster.get(name) for name in names):
            if member and member is not answer.member:
                yield Assignment(member, question, reason, OTHER_SCOPE)
                return
        yield from self._to_another(answer, question, OTHER_SCOPE, reason)

    def _to_another(
        self, answer: CompletedAssignment, question: str, weight: float, reason: str, query: str = ""
    ) -> Iterator[Assignment]:
        """Ask the best fitting member that did not get this question yet."""
        for member, fit in self._roster.by_fit(question):
            assignment = Assignment(member, question, reason, round(weight * fit, 4), query=query)
            if member is not answer.member and self._key(assignment) not in self._taken:
                yield assignment
                return

    def _retry(self, answer: CompletedAssignment) -> Iterator[Assignment]:
        """Ask the same member once more, with at least twice the tokens."""
        if not answer.assignment.again:
            reason = f"{answer.member.name} ran out of budget"
            more = Grant(RETRY_FACTOR * answer.granted.tokens, max(answer.granted.sources // 2, 1))
            yield replace(
                answer.assignment, reason=reason, gain=MORE_BUDGET, at_least=more, again=True, is_planned=False
            )

    def _from_discoveries(self, answer: CompletedAssignment) -> Iterator[Assignment]:
        reason = f"found by {answer.member.name}"
        for event in answer.result.discovery_events:
            weight, question = _DISCOVERIES.get(event.type, 0.0), self._question_about(event.query)
            member = self._roster.get(event.suggested_researcher)
            if not question or not weight:
                continue
            if member is not None:
                fit = self._roster.fit(member, f"{self._question} {question}")
                yield Assignment(member, question, reason, round(weight * fit, 4), query=event.query)
            elif event.suggested_researcher is None:
                yield from self._to_another(answer, question, weight, reason, event.query)

    def _question_about(self, query: str) -> str:
        """Turn a bare address or number into a question by adding the question of this run."""
        query = as_question(query)
        if not query or " " in query:
            return query
        return f"{self._question[: MAX_QUESTION - len(query) - 3]} ({query})" if len(query) < MAX_QUESTION // 2 else ""

    def _from_questions(self, answer: CompletedAssignment) -> Iterator[Assignment]:
        for each in answer.result.open_questions:
            if question := as_question(each.question):
                weight = _QUESTIONS.get(each.priority, 0.0)
                yield from self._to_another(answer, question, weight, f"open question of {answer.member.name}")

    def _key(self, assignment: Assignment) -> AssignmentKey:
        stems = frozenset(self._stems.content_stems(assignment.question)) or frozenset({assignment.question})
        return assignment.member.name, stems, assignment.again


def needs_human(answer: CompletedAssignment) -> list[Gap]:
    """Return the gaps that no researcher can close: denied access and contradictions."""
    return [gap for gap in answer.result.gaps if gap.category in _NEEDS_HUMAN]


def as_question(text: str) -> str:
    """Put a text on one line and cut it to the length of a question."""
    return " ".join(text.split())[:MAX_QUESTION].strip()


def _is_about_locator(gap: Gap) -> bool:
    """Check whether a gap is about one document or search of a researcher. Other researchers cannot close it."""
    return gap.locator is not None or _LOCATOR_TOPIC.fullmatch(gap.topic) is not None
