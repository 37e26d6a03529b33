"""The principal investigator (PI) answers a question with several researchers.

It plans which researcher gets which question, reserves budget for each dispatch, follows up on the results, and
concludes from the quoted evidence only. Implements the research contract itself and knows researchers only by that
contract.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from marchwarden.contract import Citation, Gap, GapCategory, ResearchRequest, ResearchResult
from marchwarden.core.notebook import Document, Draft, Hit, Plan
from marchwarden.errors import ArchiveDamaged
from marchwarden.evidence.conflicts import ConflictDetector
from marchwarden.evidence.grounding import grounded
from marchwarden.loop.recorded import RecordedResearcher
from marchwarden.loop.result import MODEL_TOPIC, factors
from marchwarden.loop.run import ResearchRun
from marchwarden.orchestrator.comparison import conflicts, corroborated, merged
from marchwarden.orchestrator.dispatch import (
    DispatchOutcome,
    DispatchRound,
    DispatchStrategy,
    SentAssignment,
    dispatch_in_process,
)
from marchwarden.orchestrator.evidence import (
    CitedExcerpt,
    ReportedCitations,
    add_to_notebook,
    context_for,
    locate,
)
from marchwarden.orchestrator.roster import Member, Roster
from marchwarden.orchestrator.shared_budget import DISPATCHES, FEWEST_TOKENS, Grant, SharedBudget, sources_for
from marchwarden.orchestrator.synthesis import TeamFindings
from marchwarden.orchestrator.task_queue import Assignment, CompletedAssignment, TaskQueue, as_question
from marchwarden.protocols import Mind, ProgressSink
from marchwarden.storage.record import RunRecord
from marchwarden.storage.store import Store
from marchwarden.text.sanitize import pluralize
from marchwarden.text.words import WordStemmer

NAME: Final = "pi"
PURPOSE: Final = "Answers with several researchers at once, follows up what they find, and compares their evidence."
PLAN_REASON: Final = "the plan"
GOOD_FIT: Final = 0.5
"""If the mind has no plan, members that fit the question at least this well are asked first."""
FOLLOW_UPS_PER_ROUND: Final = 4
LATEST_START: Final = 0.1
"""With less than this share of the time left, no new round starts."""
SINGLE_SOURCE_WEIGHT: Final = 0.7
"""Factor on the confidence from a single source when deciding whether follow-ups are worth asking."""


class PrincipalInvestigator(RecordedResearcher):
    """A researcher that answers with other researchers."""

    def __init__(
        self,
        roster: Roster,
        mind: Mind,
        *,
        store: Store,
        fallback: Mind,
        name: str = NAME,
        dispatch: DispatchStrategy = dispatch_in_process,
    ) -> None:
        super().__init__(mind, store=store, fallback=fallback, name=name)
        self.roster = roster
        self.dispatch = dispatch

    @property
    def source_name(self) -> str:
        return NAME

    @property
    def settings(self) -> Mapping[str, object]:
        return {"researchers": [_describe(member) for member in self.roster]}

    async def investigate(self, request: ResearchRequest, record: RunRecord, progress: ProgressSink) -> ResearchResult:
        return await PiRun(self, request, record, progress).run()


class PiRun(ResearchRun):
    """One run of the PI."""

    def __init__(
        self, investigator: PrincipalInvestigator, request: ResearchRequest, record: RunRecord, progress: ProgressSink
    ) -> None:
        super().__init__(investigator, request, record, progress, guide=investigator.roster.guide())
        self.roster = investigator.roster
        self.store = investigator.store
        self.dispatch = investigator.dispatch
        self.mind_calls.kept_back = FEWEST_TOKENS
        self.queue = TaskQueue(self.roster, request.question)
        self.shared_budget = SharedBudget(0, 0, 0)
        self.sent = 0
        self.outcomes: list[DispatchOutcome] = []
        self.answers: list[CompletedAssignment] = []
        self.cited: list[CitedExcerpt] = []
        self.lost: list[Gap] = []

    @property
    def sources_read(self) -> int:
        return len({cited.document.text_hash for cited in self.cited})

    async def run(self) -> ResearchResult:
        self.record.start_clock()
        await self._plan()
        self.shared_budget = SharedBudget(
            self._tokens_for_dispatches(), sources_for(self.request, len(self.roster)), DISPATCHES[self.request.depth]
        )
        assignments = self._first_round() if self._can_continue() else []
        while assignments:
            await self._dispatch(assignments)
            assignments = self._follow_ups() if self._can_continue() else []
        self._record_exhausted_members()
        return self._finish(await self._conclude())

    async def _plan(self) -> None:
        """Queue the first questions: to the members that the mind's queries name, else to every member that fits."""
        await self._report("plan", f"{len(self.roster)} researchers can be asked")
        plan = await self._ask_for_plan() or Plan(())
        addressed = [self.roster.parse_address(query.text) for query in plan.queries]
        chosen = [(member, as_question(text)) for member, text in addressed if member is not None]
        if not chosen:
            fits = self.roster.by_fit(self.request.question)
            fitting = [member for member, fit in fits if fit >= GOOD_FIT] or [member for member, _ in fits[:1]]
            chosen = [(member, self.request.question) for member in fitting]
        for member, question in chosen:
            fit = self.roster.fit(member, self.request.question)
            self.queue.put(Assignment(member, question, PLAN_REASON, fit, is_planned=True))

    def _tokens_for_dispatches(self) -> int:
        """Return what is left without the reserve for the conclusion, or all of it if that pays for no dispatch.

        Without evidence there is nothing to conclude, and the fallback concludes at no cost.
        """
        left = self.budget.left().tokens
        return left if left >= FEWEST_TOKENS else self.budget.left_to_conclude().tokens

    def _first_round(self) -> list[SentAssignment]:
        assignments: list[Assignment] = []
        while len(assignments) < self.shared_budget.affords() and (assignment := self.queue.take()):
            assignments.append(assignment)
        grants = self.shared_budget.split([assignment.gain for assignment in assignments])
        return [self._prepare(assignment, grant) for assignment, grant in zip(assignments, grants, strict=True)]

    def _follow_ups(self) -> list[SentAssignment]:
        """Take the most promising assignments and reserve tokens for each."""
        chosen: list[SentAssignment] = []
        while len(chosen) < FOLLOW_UPS_PER_ROUND and (assignment := self.queue.take()):
            waiting = min(self.queue.waiting() + 1, FOLLOW_UPS_PER_ROUND)
            grant = self.shared_budget.one(waiting=waiting, at_least=assignment.at_least)
            if grant is None:
                unpaid = f"not enough budget to ask {assignment.member.name}: {assignment.question!r}"
                self.budget.run_short(unpaid)
            else:
                chosen.append(self._prepare(assignment, grant))
        return chosen

    def _prepare(self, assignment: Assignment, grant: Grant) -> SentAssignment:
        self.sent += 1
        given = self.request.context
        context = given if assignment.is_planned else context_for(given, self.cited)
        return SentAssignment(self.sent, assignment, grant, context)

    async def _dispatch(self, assignments: Sequence[SentAssignment]) -> None:
        self.budget.iterations_run += 1
        names = ", ".join(dict.fromkeys(sent.member.name for sent in assignments))
        await self._report("dispatch", f"asking {names}")
        round_ = DispatchRound(self.request, self.record, self.progress, self.budget.left().seconds)
        outcomes = await self.dispatch(round_, assignments)
        self.budget.at(self.record.elapsed)
        self.outcomes += outcomes
        answers = [answer for answer in map(self._settle, outcomes) if answer]
        self.answers += answers
        known = len(self.cited)
        for answer in answers:
            await self._archive_evidence(answer)
        add_to_notebook(self.notebook, self.cited[known:])
        self.queue.consider(answers, 1.0 - await self._estimate_confidence())

    def _settle(self, outcome: DispatchOutcome) -> CompletedAssignment | None:
        """Charge what a dispatch spent, with or without a result."""
        sent, result = outcome.sent, outcome.result
        outcome.charged = self.shared_budget.settle(sent.grant, outcome.tokens)
        allowed = replace(self.budget.left(), tokens=outcome.charged)
        self.budget.charge(outcome.charged, allowed, sent.member.name)
        return CompletedAssignment(sent.number, sent.assignment, result, sent.grant) if result else None

    async def _archive_evidence(self, answer: CompletedAssignment) -> None:
        """Record every cited document as a step of this run, so that this trace alone proves the answer."""
        name, trace_id = answer.member.name, answer.result.trace_id
        citations = ReportedCitations(answer.result, self.store)
        for position, citation in enumerate(citations, 1):

            async def perform(citation: Citation = citation) -> Document:
                return citations.document(citation)

            hit = Hit(f"dispatch {answer.number}, citation {position}")
            try:
                document = await self.record.fetch(hit, perform, f"cited by {name} in its run {trace_id}")
            except ArchiveDamaged as error:
                failed = Gap(
                    topic=citation.locator,
                    category=GapCategory.ACCESS_DENIED,
                    detail=str(error),
                    locator=citation.locator,
                )
                self.lost.append(failed)
            else:
                self.cited.append(locate(citation, document, name))

    async def _estimate_confidence(self) -> float:
        """Score all evidence so far with the fallback mind, which is free. The score goes into the trace."""
        draft = (await self.mind_calls.fallback.conclude(self.notebook, self.budget.left_to_conclude())).value
        weights = factors(draft, grounded(draft, self.notebook), self.budget, self.record.began_on)
        single = [
            answer.result.confidence for answer in self.answers if answer.assignment.question == self.request.question
        ]
        weight = SINGLE_SOURCE_WEIGHT if weights.num_corroborating_sources <= 1 else 1.0
        confidence = round(max([weight * self.rubric.score(weights), *single]), 4)
        entry = self.record.note("weigh", str(self.sent), "decide whether to ask more", {"result": confidence})
        return float(str(entry.fields["result"]))

    def _can_continue(self) -> bool:
        """Check whether there is a question to ask and budget for it. If not, record the unfinished work."""
        if not self.queue.waiting():
            return False
        left, seconds = self.budget.left(), self.budget.wall_time_sec
        limits = {
            f"all {self.limits.max_iterations} rounds were used": left.iterations <= 0,
            f"the time limit of {seconds:g} seconds was reached": left.seconds <= seconds * LATEST_START,
            "the budget was used": not self.shared_budget.affords(),
        }
        return not self._has_run_short(limits, f"{pluralize(self.queue.waiting(), 'more question')} could be asked")

    def _record_exhausted_members(self) -> None:
        """Record a shortage for each researcher that ran out of budget and was not asked again with more."""
        asked_again = {answer.member.name for answer in self.answers if answer.assignment.again}
        for answer in self.answers:
            is_last = answer.assignment.again or answer.member.name not in asked_again
            if answer.result.cost_metadata.budget_exhausted and is_last:
                self.budget.run_short(f"{answer.member.name} ran out of its share of the budget")

    async def _conclude(self) -> Draft:
        await self._report("conclude", f"weighing {len(self.cited)} excerpts of {len(self.answers)} answers")
        draft = await self._ask_for_draft("no further question is worthwhile")
        if not draft.claims:
            return draft
        stems = WordStemmer.for_text(self.notebook.question)
        found = conflicts(self.notebook, self.cited, ConflictDetector(stems))
        backed = corroborated(draft, self.notebook, stems)
        return replace(backed, conflicts=merged(self.notebook, found, draft.conflicts))

    def _finish(self, draft: Draft) -> ResearchResult:
        checked = self._ground(draft)
        findings = TeamFindings(self.outcomes, self.answers, self.cited)
        mind_failures = [
            Gap(topic=MODEL_TOPIC, category=error.category, detail=error.detail) for error in self.mind_calls.failures
        ]
        failures = (*mind_failures, *self.lost, *findings.failures(checked))
        times = [answer.result.cost_metadata.indexing_sec for answer in self.answers]
        indexing_sec = max((seconds for seconds in times if seconds is not None), default=None)
        return findings.extended(self._build_result(draft, checked, failures, indexing_sec=indexing_sec))


def _describe(member: Member) -> Mapping[str, object]:
    return {
        "name": member.name,
        "purpose": member.purpose,
        "scope": list(member.scope),
        "given": member.given,
        "settings": member.settings,
    }
