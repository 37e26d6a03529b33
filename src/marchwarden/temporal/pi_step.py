"""Leading: one move of a PI. It is the same inquiry as anywhere, walked again over its trace to where that ends.

What was journaled is recalled, so a move costs what is new in it: the answers that came, and the thought that follows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import NoAnswer
from marchwarden.orchestrator import roster
from marchwarden.orchestrator.dispatch import (
    DEADLINE_SHARE,
    DispatchOutcome,
    DispatchRound,
    SentAssignment,
    run_id_for,
    within_grant,
)
from marchwarden.orchestrator.offline import OfflineResearcher
from marchwarden.orchestrator.pi import PrincipalInvestigator
from marchwarden.protocols import Mind, ProgressSink
from marchwarden.storage.store import Store
from marchwarden.temporal.messages import Answer, Errand, Member, Move, Turn


class Awaited(BaseException):
    """The inquiry goes on when these errands have been run. No error: nobody who catches those is meant."""

    def __init__(self, errands: list[Errand]) -> None:
        super().__init__(f"{len(errands)} errands")
        self.errands = errands


@dataclass(frozen=True)
class PiStep:
    """Where a PI of the fleet hands in its errands, and finds the answers on its next turn."""

    turn: Turn
    store: Store

    async def __call__(self, round_: DispatchRound, assignments: Sequence[SentAssignment]) -> list[DispatchOutcome]:
        came = {answer.number: answer for answer in self.turn.answers}
        numbers = [sent.number for sent in assignments if not round_.record.holds("dispatch", str(sent.number))]
        if not set(numbers) <= came.keys():
            raise Awaited([self._errand(round_, sent) for sent in assignments])
        round_.record.pass_time(max((came[number].seconds for number in numbers), default=0.0))
        round_.perform = self._perform
        return await round_.run(assignments)

    def _errand(self, round_: DispatchRound, sent: SentAssignment) -> Errand:
        name = sent.member.name
        member = next(each for each in self.turn.question.members if each.name == name)
        trace_id = round_.record.sent(sent.number, run_id_for(round_.record.trace_id, sent.number))
        request = round_.request_for(sent).model_dump(mode="json", exclude_unset=True)
        return Errand(sent.number, member, trace_id, request, round_.seconds * DEADLINE_SHARE, self.turn.question.mind)

    async def _perform(self, returned: DispatchOutcome) -> ResearchResult:
        answer = next(each for each in self.turn.answers if each.number == returned.sent.number)
        if not answer.result_hash:
            raise NoAnswer(answer.error, answer.tokens, called_off=answer.called_off)
        return within_grant(returned.sent, self._result(answer))

    def _result(self, answer: Answer) -> ResearchResult:
        return ResearchResult.model_validate_json(self.store.archive.load(answer.result_hash))


async def move(turn: Turn, mind: Mind, embedded: Mind, store: Store, progress: ProgressSink) -> Move:
    """The PI's next move: errands to be run, or the result."""
    members = roster.Roster([absent(member) for member in turn.question.members])
    investigator = PrincipalInvestigator(members, mind, store=store, fallback=embedded, dispatch=PiStep(turn, store))
    request = ResearchRequest.model_validate(turn.question.request)
    try:
        result = await investigator.run_request(request, turn.trace_id, progress=progress)
    except Awaited as awaited:
        return Move(errands=awaited.errands)
    return Move(result=result.model_dump(mode="json"))


def absent(member: Member) -> roster.Member:
    return roster.Member(
        member.name, member.purpose, OfflineResearcher(), tuple(member.scope), member.given, member.settings
    )
