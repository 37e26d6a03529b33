"""The agenda: what is worth asking next, the most promising first, and what only a person can settle.

Fed by the gaps, discoveries and open questions of results. Knows the rules; sends nothing and pays for nothing.
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
"""Expected gain below which nothing more is asked: weight of the reason, times fit, times what is still unsure."""
UNANSWERED: Final = 0.9
PARTLY_ANSWERED: Final = 0.4
OTHER_SCOPE: Final = 0.95
MORE_BUDGET: Final = 0.6
TWICE: Final = 2
_DISCOVERIES: Final[Mapping[str, float]] = {
    DiscoveryType.CONTRADICTION: 0.6,
    DiscoveryType.RELATED_RESEARCH: 0.5,
    DiscoveryType.NEW_SOURCE: 0.4,
}
_QUESTIONS: Final[Mapping[str, float]] = {Priority.HIGH: 0.5, Priority.MEDIUM: 0.3, Priority.LOW: 0.1}
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]*")
_PLACE: Final = re.compile(r"search: .*|\S*(?:://|/|\.\w)\S*", re.DOTALL)
"""The topic of a gap that is a search or a document of the researcher's own, and nothing to ask another one about."""
_FOR_A_PERSON: Final = frozenset({GapCategory.ACCESS_DENIED, GapCategory.CONTRADICTORY_SOURCES})


@dataclass(frozen=True)
class Assignment:
    """One question for one member, why it is asked, what it promises, and what it must at least be given."""

    member: Member
    question: str
    reason: str
    gain: float
    at_least: Grant = SMALLEST
    again: bool = False


@dataclass(frozen=True)
class CompletedAssignment:
    """An errand that was run, and what came back."""

    number: int
    errand: Assignment
    result: ResearchResult
    granted: Grant


class TaskQueue:
    """The errands that wait. The same question for the same member is asked once, except to be paid better."""

    def __init__(self, roster: Roster, question: str) -> None:
        self._roster = roster
        self._question = question
        self._stems = WordStemmer()
        self._unsure = 1.0
        self._answers: list[CompletedAssignment] = []
        self._waiting: dict[tuple[str, frozenset[str], bool], Assignment] = {}
        self._taken: set[tuple[str, frozenset[str], bool]] = set()

    def put(self, errand: Assignment) -> None:
        """Add an errand; one that is there already keeps the better promise and both reasons."""
        key = self._key(errand)
        if key in self._taken:
            return
        known = self._waiting.get(key)
        if known is None:
            self._waiting[key] = errand
            return
        reason = known.reason if errand.reason in known.reason else f"{known.reason}; {errand.reason}"
        self._waiting[key] = replace(known, reason=reason, gain=max(known.gain, errand.gain))

    def take(self) -> Assignment | None:
        """The most promising errand, if any still promises enough; equals in the order of member and question."""
        errands = sorted(self._worth_asking(), key=lambda each: (-each.gain, each.member.name, each.question))
        if not errands:
            return None
        key = self._key(errands[0])
        self._taken.add(key)
        del self._waiting[key]
        return errands[0]

    def waiting(self) -> int:
        return len(self._worth_asking())

    def consider(self, answers: Iterable[CompletedAssignment], unsure: float) -> None:
        """Put on the agenda what results call for. `unsure` is how much there is still to gain, 0 to 1, by anything."""
        self._unsure = unsure
        new = list(answers)
        self._answers += new
        for answered in new:
            for errand in (*self._of_gaps(answered), *self._of_discoveries(answered), *self._of_questions(answered)):
                self.put(replace(errand, gain=errand.gain * answered.errand.gain))

    def _worth_asking(self) -> list[Assignment]:
        """What waits, as it promises now, and promises enough."""
        promising = [replace(each, gain=round(each.gain * self._unsure, 4)) for each in self._waiting.values()]
        return [errand for errand in promising if errand.gain >= WORTH_ASKING]

    def _of_gaps(self, answered: CompletedAssignment) -> Iterator[Assignment]:
        for gap in answered.result.gaps:
            match gap.category:
                case GapCategory.SCOPE_EXCEEDED:
                    yield from self._specialist(answered, gap)
                case GapCategory.SOURCE_NOT_FOUND if not _PLACE.fullmatch(gap.topic) and not self._found(answered, gap):
                    weight = PARTLY_ANSWERED if answered.result.citations else UNANSWERED
                    reason = f"{_who(answered)} did not find it"
                    yield from self._another(answered, as_question(gap.topic), weight, reason)
                case GapCategory.BUDGET_EXHAUSTED:
                    yield from self._again(answered)

    def _found(self, answered: CompletedAssignment, gap: Gap) -> bool:
        """Whether somebody else who was asked the same has evidence, and does not miss this."""
        return any(
            other.result.citations and not any(self._same_topic(gap, missed) for missed in other.result.gaps)
            for other in self._answers
            if other is not answered and other.errand.question == answered.errand.question
        )

    def _same_topic(self, one: Gap, other: Gap) -> bool:
        if other.category not in {GapCategory.SOURCE_NOT_FOUND, GapCategory.SCOPE_EXCEEDED}:
            return False
        ours, theirs = set(self._stems.of(one.topic)), set(self._stems.of(other.topic))
        return one.topic == other.topic or 2 * len(ours & theirs) >= max(len(ours), 1)

    def _specialist(self, answered: CompletedAssignment, gap: Gap) -> Iterator[Assignment]:
        """Whoever the result names for it; else whoever fits it best."""
        named = [event.suggested_researcher for event in answered.result.discovery_events]
        named += [word for word in _NAME.findall(gap.detail.casefold()) if self._roster.get(word)]
        reason = f"it is beyond {_who(answered)}"
        for member in (self._roster.get(name) for name in named):
            if member and member is not answered.errand.member:
                yield Assignment(member, answered.errand.question, reason, OTHER_SCOPE)
                return
        yield from self._another(answered, answered.errand.question, OTHER_SCOPE, reason)

    def _another(
        self, answered: CompletedAssignment, question: str, weight: float, reason: str
    ) -> Iterator[Assignment]:
        """The best fitting member that was not asked this yet."""
        for member, fit in self._roster.by_fit(question):
            errand = Assignment(member, question, reason, round(weight * fit, 4))
            if member is not answered.errand.member and self._key(errand) not in self._taken:
                yield errand
                return

    def _again(self, answered: CompletedAssignment) -> Iterator[Assignment]:
        """Once more with at least twice the tokens, for what is still missing, unless that has been tried."""
        errand = answered.errand
        if not errand.again:
            reason = f"{errand.member.name} ran out of budget"
            more = Grant(TWICE * answered.granted.tokens, max(answered.granted.sources // 2, 1))
            yield replace(errand, reason=reason, gain=MORE_BUDGET, at_least=more, again=True)

    def _of_discoveries(self, answered: CompletedAssignment) -> Iterator[Assignment]:
        for event in answered.result.discovery_events:
            weight, query = _DISCOVERIES.get(event.type, 0.0), self._about(event.query)
            member = self._roster.get(event.suggested_researcher)
            if not query or not weight:
                continue
            if member is not None:
                fit = self._roster.fit(member, f"{self._question} {query}")
                yield Assignment(member, query, f"{_who(answered)} came across it", round(weight * fit, 4))
            elif event.suggested_researcher is None:
                yield from self._another(answered, query, weight, f"{_who(answered)} came across it")

    def _about(self, query: str) -> str:
        """An address or a number alone asks nothing: it is asked what this one is asked, about that."""
        query = as_question(query)
        if not query or " " in query:
            return query
        return f"{self._question[: MAX_QUESTION - len(query) - 3]} ({query})" if len(query) < MAX_QUESTION // 2 else ""

    def _of_questions(self, answered: CompletedAssignment) -> Iterator[Assignment]:
        for asked in answered.result.open_questions:
            question = as_question(asked.question)
            if question:
                weight = _QUESTIONS.get(asked.priority, 0.0)
                yield from self._another(answered, question, weight, f"{_who(answered)} left it open")

    def _key(self, errand: Assignment) -> tuple[str, frozenset[str], bool]:
        return (
            errand.member.name,
            frozenset(self._stems.of(errand.question)) or frozenset({errand.question}),
            errand.again,
        )


def needs_human(answers: Iterable[CompletedAssignment]) -> list[Gap]:
    """What no researcher can settle: refused access and open quarrels, with who tried."""
    return [
        gap.model_copy(update={"detail": f"{gap.detail} (for a person to settle; tried: {_who(answered)})"})
        for answered in answers
        for gap in answered.result.gaps
        if gap.category in _FOR_A_PERSON
    ]


def _who(answered: CompletedAssignment) -> str:
    return answered.errand.member.name


def as_question(text: str) -> str:
    """Words on one line, no more of them than a question may have."""
    return " ".join(text.split())[:MAX_QUESTION].strip()
