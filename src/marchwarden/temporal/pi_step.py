"""Compute one step of a PI on the fleet: the normal PI code runs over its trace until it needs new answers.

Recorded steps are reused, so a step only costs what is new in it.
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
from marchwarden.temporal.messages import FleetMember, PiMove, PiTurn, ResearchTask, TaskAnswer


class AnswersNeeded(BaseException):
    """Stops the PI until these tasks have run. Not an `Exception`, so that no error handler catches it."""

    def __init__(self, tasks: list[ResearchTask]) -> None:
        super().__init__(f"{len(tasks)} tasks")
        self.tasks = tasks


@dataclass(frozen=True)
class PiStep:
    """The dispatch strategy of the fleet: uses the answers that arrived, else stops with the tasks to run."""

    turn: PiTurn
    store: Store

    async def __call__(self, round_: DispatchRound, assignments: Sequence[SentAssignment]) -> list[DispatchOutcome]:
        arrived = {answer.number: answer for answer in self.turn.answers}
        numbers = [sent.number for sent in assignments if not round_.record.has_step("dispatch", str(sent.number))]
        if not set(numbers) <= arrived.keys():
            raise AnswersNeeded([self._task(round_, sent) for sent in assignments])
        round_.record.add_elapsed(max((arrived[number].seconds for number in numbers), default=0.0))
        round_.perform = self._perform
        return await round_.run(assignments)

    def _task(self, round_: DispatchRound, sent: SentAssignment) -> ResearchTask:
        name = sent.member.name
        member = next(each for each in self.turn.question.members if each.name == name)
        trace_id = round_.record.assign_run(sent.number, run_id_for(round_.record.trace_id, sent.number))
        request = round_.request_for(sent).model_dump(mode="json", exclude_unset=True)
        return ResearchTask(
            sent.number, member, trace_id, request, round_.seconds * DEADLINE_SHARE, self.turn.question.mind
        )

    async def _perform(self, outcome: DispatchOutcome) -> ResearchResult:
        answer = next(each for each in self.turn.answers if each.number == outcome.sent.number)
        if not answer.result_hash:
            raise NoAnswer(answer.error, answer.tokens, called_off=answer.called_off)
        return within_grant(outcome.sent, self._result(answer))

    def _result(self, answer: TaskAnswer) -> ResearchResult:
        return ResearchResult.model_validate_json(self.store.archive.load(answer.result_hash))


async def compute_move(turn: PiTurn, mind: Mind, embedded: Mind, store: Store, progress: ProgressSink) -> PiMove:
    """Return the PI's next step: tasks to run, or the result."""
    members = roster.Roster([offline_member(member) for member in turn.question.members])
    investigator = PrincipalInvestigator(members, mind, store=store, fallback=embedded, dispatch=PiStep(turn, store))
    request = ResearchRequest.model_validate(turn.question.request)
    try:
        result = await investigator.run_request(request, turn.trace_id, progress=progress)
    except AnswersNeeded as needed:
        return PiMove(errands=needed.tasks)
    return PiMove(result=result.model_dump(mode="json"))


def offline_member(member: FleetMember) -> roster.Member:
    return roster.Member(
        member.name, member.purpose, OfflineResearcher(), tuple(member.scope), member.given, member.settings
    )
