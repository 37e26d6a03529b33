"""The PI: answers a question with several researchers, and keeps the contract of a researcher itself.

It plans who is asked what, pays each dispatch out of one purse, follows up what comes back, and has its mind conclude
from the raw evidence alone. Knows researchers by the contract only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from marchwarden.contract import Citation, Gap, GapCategory, ResearchRequest, ResearchResult
from marchwarden.core.budget import WALL_TIME_SEC, Budget
from marchwarden.core.notebook import Document, Draft, Hit, Notebook, Plan
from marchwarden.errors import ArchiveDamaged
from marchwarden.evidence.confidence import Rubric
from marchwarden.evidence.conflicts import ConflictDetector
from marchwarden.evidence.grounding import grounded
from marchwarden.loop.mind_calls import MindCalls
from marchwarden.loop.recorded import RecordedResearcher
from marchwarden.loop.result import RunFacts, build_result, factors
from marchwarden.orchestrator.comparison import conflicts, corroborated, merged
from marchwarden.orchestrator.context import context_for
from marchwarden.orchestrator.dispatch import (
    DispatchOutcome,
    DispatchRound,
    DispatchStrategy,
    SentAssignment,
    dispatch_in_process,
)
from marchwarden.orchestrator.evidence import Cited, Reports, noted, placed
from marchwarden.orchestrator.roster import Member, Roster
from marchwarden.orchestrator.shared_budget import DISPATCHES, Grant, SharedBudget, sources_for
from marchwarden.orchestrator.synthesis import TeamFindings
from marchwarden.orchestrator.task_queue import Assignment, CompletedAssignment, TaskQueue, as_question
from marchwarden.protocols import Mind, Progress, ProgressSink
from marchwarden.storage.record import RunHeader, RunRecord
from marchwarden.storage.store import Store
from marchwarden.text.words import WordStemmer

NAME: Final = "pi"
PURPOSE: Final = "Answers with several researchers at once, follows up what they find, and compares their evidence."
PLANNED: Final = "the plan"
FITS: Final = 0.5
AT_ONCE: Final = 4
TOO_LATE: Final = 0.1
ONE_SOURCE: Final = 0.7
"""How much of our confidence counts against asking on where one source says it all."""
"""Of the whole time; with no more than this left nobody is asked anything, and what was found is brought together."""


class PrincipalInvestigator(RecordedResearcher):
    """A researcher made of researchers."""

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
        super().__init__(store)
        self.dispatch = dispatch
        self.roster = roster
        self.mind = mind
        self.fallback = fallback
        self.name = name

    def opening(self, request: ResearchRequest) -> RunHeader:
        return RunHeader(
            request=request,
            researcher=self.name,
            source=NAME,
            settings={"researchers": [_described(member) for member in self.roster]},
            model_id=self.mind.model_id,
            conclusion_tokens=self.mind.conclusion_tokens,
        )

    async def investigate(self, request: ResearchRequest, record: RunRecord, progress: ProgressSink) -> ResearchResult:
        return await PiRun(self, request, record, progress).run()


class PiRun:
    """One question on its way through the researchers to a result."""

    def __init__(
        self, investigator: PrincipalInvestigator, request: ResearchRequest, record: RunRecord, progress: ProgressSink
    ) -> None:
        self.roster = investigator.roster
        self.request = request
        self.limits = request.limits()
        self.record = record
        self.progress = progress
        self.store = investigator.store
        self.rubric = Rubric.kept_in(self.store.folder)
        self.send = investigator.dispatch
        self.notebook = Notebook(request.question, request.context or "", guide=investigator.roster.guide())
        self.budget = Budget(
            self.limits,
            wall_time_sec=WALL_TIME_SEC[request.depth],
            conclusion_tokens=investigator.mind.conclusion_tokens,
        )
        self.thinking = MindCalls(investigator.mind, investigator.fallback, self.budget, record, self.notebook)
        self.agenda = TaskQueue(self.roster, request.question)
        self.purse = SharedBudget(0, 0, 0)
        self.dispatched = 0
        self.returned: list[DispatchOutcome] = []
        self.answers: list[CompletedAssignment] = []
        self.cited: list[Cited] = []
        self.lost: list[Gap] = []

    async def run(self) -> ResearchResult:
        self.record.start_clock()
        await self._plan()
        self.purse = SharedBudget(
            self.budget.left().tokens, sources_for(self.request, len(self.roster)), DISPATCHES[self.request.depth]
        )
        errands = self._first() if self._may_go_on() else []
        while errands:
            await self._dispatch(errands)
            errands = self._follow_ups() if self._may_go_on() else []
        self._admit_what_ran_out()
        return self._landed(await self._conclude())

    async def _plan(self) -> None:
        """Whom to ask first: as the mind addresses its queries, else everybody whom the question fits."""
        await self._report("plan", f"{len(self.roster)} researchers can be asked")
        plan = await self.thinking.think(
            "plan", Plan, lambda mind, left: mind.plan(self.notebook, left), "the run begins"
        )
        plan = plan or Plan(())
        self.notebook.aspects = plan.aspects
        addressed = [self.roster.addressed(query.text) for query in plan.queries]
        chosen = [(member, as_question(text)) for member, text in addressed if member is not None]
        if not chosen:
            fits = self.roster.by_fit(self.request.question)
            fitting = [member for member, fit in fits if fit >= FITS] or [member for member, _ in fits[:1]]
            chosen = [(member, self.request.question) for member in fitting]
        for member, question in chosen:
            self.agenda.put(Assignment(member, question, PLANNED, self.roster.fit(member, self.request.question)))

    def _first(self) -> list[SentAssignment]:
        errands: list[Assignment] = []
        while len(errands) < self.purse.affords() and (errand := self.agenda.take()):
            errands.append(errand)
        grants = self.purse.split([errand.gain for errand in errands])
        return [self._sent(errand, grant) for errand, grant in zip(errands, grants, strict=True)]

    def _follow_ups(self) -> list[SentAssignment]:
        """The most promising errands, each paid for before it is sent."""
        chosen: list[SentAssignment] = []
        while len(chosen) < AT_ONCE and (errand := self.agenda.take()):
            grant = self.purse.one(waiting=min(self.agenda.waiting() + 1, AT_ONCE), at_least=errand.at_least)
            if grant is None:
                self.budget.run_short(f"{errand.member.name} could not be paid to look into {errand.question!r}")
            else:
                chosen.append(self._sent(errand, grant))
        return chosen

    def _sent(self, errand: Assignment, grant: Grant) -> SentAssignment:
        self.dispatched += 1
        given = self.request.context
        context = given if errand.reason == PLANNED else context_for(given, self.cited)
        return SentAssignment(self.dispatched, errand, grant, context)

    async def _dispatch(self, errands: Sequence[SentAssignment]) -> None:
        self.budget.iterations_run += 1
        names = ", ".join(dict.fromkeys(sent.errand.member.name for sent in errands))
        await self._report("dispatch", f"asking {names}")
        round_ = DispatchRound(self.request, self.record, self.progress, self.budget.left().seconds)
        returned = await self.send(round_, errands)
        self.budget.at(self.record.elapsed)
        self.returned += returned
        answers = [each for each in map(self._settled, returned) if each]
        self.answers += answers
        known = len(self.cited)
        for answered in answers:
            await self._keep_evidence(answered)
        noted(self.notebook, self.cited[known:])
        self.agenda.consider(answers, 1.0 - await self._sure())

    def _settled(self, returned: DispatchOutcome) -> CompletedAssignment | None:
        """Book what was spent, whatever came of it."""
        sent, result = returned.sent, returned.result
        returned.booked = self.purse.settle(sent.grant, returned.tokens)
        allowed = replace(self.budget.left(), tokens=returned.booked)
        self.budget.charge(returned.booked, allowed, sent.errand.member.name)
        return CompletedAssignment(sent.number, sent.errand, result, sent.grant) if result else None

    async def _keep_evidence(self, answered: CompletedAssignment) -> None:
        """Every cited document becomes a step of this run, so that this trace alone proves the answer."""
        name, trace_id = answered.errand.member.name, answered.result.trace_id
        reports = Reports(answered.result, self.store)
        for at, citation in enumerate(reports, 1):

            async def perform(citation: Citation = citation) -> Document:
                return reports.document(citation)

            hit = Hit(f"dispatch {answered.number}, citation {at}")
            try:
                document = await self.record.fetch(hit, perform, f"cited by {name} in its run {trace_id}")
            except ArchiveDamaged as error:
                self.lost.append(Gap(topic=citation.locator, category=GapCategory.ACCESS_DENIED, detail=str(error)))
            else:
                self.cited.append(placed(citation, document, name))

    async def _sure(self) -> float:
        """How sure the evidence of all together makes us so far, as the embedded mind weighs it, for nothing."""
        draft = (await self.thinking.fallback.conclude(self.notebook, self.budget.left_to_conclude())).value
        weighed = factors(draft, grounded(draft, self.notebook), self.budget, self.record.began_on)
        single = [each.result.confidence for each in self.answers if each.errand.question == self.request.question]
        alone = ONE_SOURCE if weighed.num_corroborating_sources <= 1 else 1.0
        sure = round(max([alone * self.rubric.score(weighed), *single]), 4)
        entry = self.record.note("weigh", str(self.dispatched), "whether more is worth asking", {"result": sure})
        return float(str(entry.fields["result"]))

    def _may_go_on(self) -> bool:
        """Whether another round may begin; if not, what was left undone for it is booked as a shortage."""
        left, seconds = self.budget.left(), self.budget.wall_time_sec
        if not self.agenda.waiting():
            return False
        ran_out = {
            f"all {self.limits.max_iterations} rounds were used": left.iterations <= 0,
            f"the {seconds:g} seconds were over": left.seconds <= seconds * TOO_LATE,
            "nothing more could be paid": not self.purse.affords(),
        }
        short = [what for what, it_did in ran_out.items() if it_did]
        for what in short:
            self.budget.run_short(f"{what} before {self.agenda.waiting()} more could be asked")
        return not short

    def _admit_what_ran_out(self) -> None:
        """A researcher that ran out, and was not asked again with more, leaves something undone for the whole."""
        asked_again = {answered.errand.member.name for answered in self.answers if answered.errand.again}
        for answered in self.answers:
            errand = answered.errand
            if answered.result.cost_metadata.budget_exhausted and (
                errand.again or errand.member.name not in asked_again
            ):
                self.budget.run_short(f"{errand.member.name} ran out of its share of the budget")

    async def _conclude(self) -> Draft:
        await self._report("conclude", f"weighing {len(self.cited)} excerpts of {len(self.answers)} answers")
        why = self.budget.shortages[-1] if self.budget.shortages else "nothing more is worth asking"
        draft = await self.thinking.think("conclude", Draft, lambda mind, left: mind.conclude(self.notebook, left), why)
        if draft and draft.left_undone:
            self.budget.run_short(draft.left_undone)
        if draft is None or not draft.claims:
            return draft or Draft()
        stems = WordStemmer()
        quarrels = conflicts(self.notebook, self.cited, ConflictDetector(stems))
        backed = corroborated(draft, self.notebook, stems)
        return replace(backed, conflicts=merged(self.notebook, quarrels, draft.conflicts))

    def _landed(self, draft: Draft) -> ResearchResult:
        checked = grounded(draft, self.notebook)
        counted = {"claims": checked.claimed, "unsupported": checked.unsupported}
        told = {"result": counted, "rubric": self.rubric.told()}
        ground = self.record.note("ground", "", "every claim is held against its excerpts", told)
        outcome = TeamFindings(self.returned, self.answers, self.cited)
        thoughtless = [Gap(topic="mind", category=each.category, detail=each.detail) for each in self.thinking.failures]
        flight = RunFacts(
            trace_id=self.record.trace_id,
            source=NAME,
            model_id=self.thinking.mind.model_id,
            began_on=self.record.began_on,
            elapsed=self.record.elapsed,
            failures=(*thoughtless, *self.lost, *outcome.failures(checked)),
            left_out=(),
            rubric=Rubric.again(ground.fields.get("rubric")),
        )
        return outcome.extended(build_result(draft, checked, self.notebook, self.budget, flight))

    async def _report(self, step: str, message: str) -> None:
        await self.progress(
            Progress(
                trace_id=self.record.trace_id,
                step=step,
                message=message,
                iteration=self.budget.iterations_run,
                tokens_used=self.budget.tokens_used,
                token_budget=self.limits.token_budget,
                sources=len({cited.document.text_hash for cited in self.cited}),
            )
        )


def _described(member: Member) -> Mapping[str, object]:
    return {
        "name": member.name,
        "purpose": member.purpose,
        "scope": list(member.scope),
        "given": member.given,
        "settings": member.settings,
    }
