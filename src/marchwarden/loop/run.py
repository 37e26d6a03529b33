"""Base class of a run, from the plan to the result. Subclasses are `Investigation` and `PiRun`."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from marchwarden.contract import Gap, ResearchRequest, ResearchResult
from marchwarden.core.budget import WALL_TIME_SEC, Budget
from marchwarden.core.notebook import Draft, Notebook, Plan
from marchwarden.evidence.confidence import Rubric
from marchwarden.evidence.grounding import Grounded, grounded
from marchwarden.loop.mind_calls import MindCalls
from marchwarden.loop.recorded import RecordedResearcher
from marchwarden.loop.result import RunFacts, build_result
from marchwarden.protocols import Progress, ProgressSink
from marchwarden.storage.record import RunRecord


class ResearchRun(ABC):
    """The state of a run: a request, its limits, a notebook, a budget, a record and a mind to call."""

    def __init__(
        self,
        researcher: RecordedResearcher,
        request: ResearchRequest,
        record: RunRecord,
        progress: ProgressSink,
        guide: str = "",
    ) -> None:
        self.request = request
        self.limits = request.limits()
        self.record = record
        self.progress = progress
        self.source_name = researcher.source_name
        self.rubric = Rubric.load(researcher.store.folder)
        self.notebook = Notebook(request.question, request.context or "", guide=guide)
        self.budget = Budget(
            self.limits,
            wall_time_sec=WALL_TIME_SEC[request.depth],
            conclusion_tokens=researcher.mind.conclusion_tokens,
        )
        self.mind_calls = MindCalls(researcher.mind, researcher.fallback, self.budget, record, self.notebook)

    @abstractmethod
    async def run(self) -> ResearchResult:
        """Answer the request."""

    @property
    @abstractmethod
    def sources_read(self) -> int:
        """The number of documents read so far."""

    async def _ask_for_plan(self) -> Plan | None:
        plan = await self.mind_calls.think(
            "plan", Plan, lambda mind, left: mind.plan(self.notebook, left), "the run begins"
        )
        self.notebook.aspects = plan.aspects if plan else ()
        return plan

    async def _ask_for_draft(self, reason: str) -> Draft:
        """Ask the mind for a conclusion. The trace records `reason`, or the budget shortage that ended the run."""
        reason = self.budget.shortages[-1] if self.budget.shortages else reason
        draft = await self.mind_calls.think(
            "conclude", Draft, lambda mind, left: mind.conclude(self.notebook, left), reason
        )
        if draft and draft.left_undone:
            self.budget.run_short(draft.left_undone)
        return draft or Draft()

    def _has_run_short(self, limits: Mapping[str, bool], unfinished: str) -> bool:
        """Check which limits were reached, and record them and the unfinished work as shortages."""
        reached = [limit for limit, is_reached in limits.items() if is_reached]
        for limit in reached:
            self.budget.run_short(f"{limit} before {unfinished}")
        return bool(reached)

    def _ground(self, draft: Draft) -> Grounded:
        """Check every claim against its excerpts. The trace records the outcome and the rubric in use."""
        checked = grounded(draft, self.notebook)
        counts = {"claims": checked.claimed, "unsupported": checked.unsupported}
        fields = {"result": counts, "rubric": self.rubric.to_json()}
        entry = self.record.note("ground", "", "check every claim against its excerpts", fields)
        self.rubric = Rubric.from_trace(entry.fields.get("rubric"))
        return checked

    def _build_result(
        self,
        draft: Draft,
        checked: Grounded,
        failures: Sequence[Gap],
        left_out: Sequence[str] = (),
        indexing_sec: float | None = None,
    ) -> ResearchResult:
        facts = RunFacts(
            trace_id=self.record.trace_id,
            source=self.source_name,
            model_id=self.mind_calls.author,
            requested_model_id=self.mind_calls.mind.model_id,
            began_on=self.record.began_on,
            elapsed=self.record.elapsed,
            failures=tuple(failures),
            left_out=tuple(left_out),
            indexing_sec=indexing_sec,
            rubric=self.rubric,
        )
        return build_result(draft, checked, self.notebook, self.budget, facts)

    async def _report(self, step: str, message: str) -> None:
        await self.progress(
            Progress(
                trace_id=self.record.trace_id,
                step=step,
                message=message,
                iteration=self.budget.iterations_run,
                tokens_used=self.budget.tokens_used,
                token_budget=self.limits.token_budget,
                sources=self.sources_read,
            )
        )
