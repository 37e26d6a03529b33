"""The one loop every researcher runs: plan, search, fetch, read, again while it is worth it, conclude, ground.

An Investigator is a source and a mind; an investigation is one question under one budget. The loop alone pays and
records. Whatever fails outside becomes a gap; only a caller's mistake or a cancellation ends a run without a result.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

import anyio
from pydantic import TypeAdapter

from marchwarden.contract import Gap, GapCategory, ResearchRequest, ResearchResult
from marchwarden.core.budget import WALL_TIME_SEC, Budget
from marchwarden.core.notebook import Document, Draft, Hit, Notebook, Plan, Query, Reading
from marchwarden.errors import ArchiveDamaged, SourceError
from marchwarden.evidence.confidence import Rubric
from marchwarden.evidence.grounding import grounded
from marchwarden.evidence.ranking import PassageIndex, ReadingList, reading_list
from marchwarden.loop.mind_calls import MindCalls
from marchwarden.loop.recorded import RecordedResearcher
from marchwarden.loop.result import RunFacts, build_result
from marchwarden.protocols import Mind, Progress, ProgressSink, Source
from marchwarden.storage.record import RunHeader, RunRecord
from marchwarden.storage.store import Store
from marchwarden.text.plural import pluralize

T = TypeVar("T")

LONGEST_QUERY: Final = 2_000
"""Room for a query in a language of its own, such as SQL; a provider with a shorter limit keeps it itself."""
QUERIES_A_ROUND: Final = 6
_NOTICES: Final = TypeAdapter(tuple[str, ...])


@dataclass(frozen=True)
class Pace:
    """How long one step may take, and how much of what is left one round may use."""

    search_seconds: float = 30.0
    fetch_seconds: float = 30.0
    share_of_sources: float = 0.7
    share_of_tokens: float = 0.5


class Investigator(RecordedResearcher):
    """A researcher: a source, a mind, and the loop between them."""

    def __init__(
        self, source: Source, mind: Mind, *, store: Store, fallback: Mind, name: str = "", pace: Pace | None = None
    ) -> None:
        super().__init__(store)
        self.source = source
        self.mind = mind
        self.fallback = fallback
        self.name = name or source.name
        self.pace = pace or Pace()

    def opening(self, request: ResearchRequest) -> RunHeader:
        return RunHeader(
            request=request,
            researcher=self.name,
            source=self.source.name,
            settings=self.source.settings,
            model_id=self.mind.model_id,
            conclusion_tokens=self.mind.conclusion_tokens,
        )

    async def investigate(self, request: ResearchRequest, record: RunRecord, progress: ProgressSink) -> ResearchResult:
        return await Investigation(self, request, record, progress).run()


class Investigation:
    """One question on its way to a result."""

    def __init__(
        self, investigator: Investigator, request: ResearchRequest, record: RunRecord, progress: ProgressSink
    ) -> None:
        limits, mind = request.limits(), investigator.mind
        self.source = investigator.source
        self.pace = investigator.pace
        self.rubric = Rubric.kept_in(investigator.store.folder)
        self.record = record
        self.progress = progress
        self.depth = request.depth
        self.notebook = Notebook(request.question, request.context or "")
        self.index = PassageIndex(self.notebook)
        self.budget = Budget(
            limits, wall_time_sec=WALL_TIME_SEC[request.depth], conclusion_tokens=mind.conclusion_tokens
        )
        self.thinking = MindCalls(mind, investigator.fallback, self.budget, record, self.notebook)
        self.hits: dict[str, Hit] = {}
        self.tried: set[str] = set()
        self.failures: list[Gap] = []

    async def run(self) -> ResearchResult:
        await self._prepare()
        queries = await self._plan()
        going_on = bool(queries)
        while going_on and self._can_go_on(queries):
            self.budget.begin_iteration()
            await self._search(queries)
            await self._fetch()
            queries, going_on = await self._read()
        return self._landed(await self._conclude())

    async def _prepare(self) -> None:
        try:
            await self.source.ready(partial(self._report, "prepare"))
        except SourceError as error:
            self._could_not(self.source.name, error)
        self.notebook.guide = self.source.guide()
        self.record.start_clock()

    async def _plan(self) -> Sequence[Query]:
        await self._report("plan", "planning what to look for")
        plan = await self.thinking.think(
            "plan", Plan, lambda mind, left: mind.plan(self.notebook, left), "the run begins"
        )
        plan = plan or Plan((Query(self.notebook.question),))
        self.notebook.aspects = plan.aspects
        return self._new(plan.queries)

    def _can_go_on(self, queries: Sequence[Query]) -> bool:
        """Whether another round may begin; if not, what was left undone for it is booked as a shortage."""
        left = self.budget.left()
        ran_out = {
            f"all {self.budget.limits.max_iterations} iterations were used": left.iterations == 0,
            f"the {self.budget.limits.token_budget} tokens were used": left.tokens == 0,
            f"all {self.budget.limits.max_sources} sources were fetched": bool(queries) and left.sources == 0,
            f"the {self.budget.wall_time_sec:g} seconds were over": left.seconds == 0,
        }
        short = [what for what, it_did in ran_out.items() if it_did]
        for what in short:
            self.budget.run_short(f"{what} before {_named(queries) or 'everything found was read'}")
        return not short

    async def _search(self, queries: Sequence[Query]) -> None:
        await self._report("search", f"searching: {_named(queries)}" if queries else "nothing new to search")
        self.notebook.queries.extend(queries)
        answers = await self._side_by_side([partial(self._hits_of, query) for query in queries])
        for query, answer in zip(queries, answers, strict=True):
            if isinstance(answer, SourceError):
                self._could_not(f"search: {query.text}", answer)
                continue
            for hit in answer:
                known = self.hits.get(hit.locator)
                if known is None or hit.score > known.score:
                    self.hits[hit.locator] = hit

    async def _hits_of(self, query: Query) -> Sequence[Hit] | SourceError:
        async def perform() -> Sequence[Hit]:
            return await self._in_time(lambda: self.source.search(query), self.pace.search_seconds)

        why = f"iteration {self.budget.iterations_run}: {query.aspect or 'the question'}"
        try:
            return await self.record.search(query, perform, why)
        except SourceError as error:
            return error

    async def _fetch(self) -> None:
        chosen = self._chosen()
        if chosen:
            await self._report("fetch", f"reading {len(chosen)} of {len(self.hits)} sources found")
        fetched = await self._side_by_side([partial(self._document_of, hit) for hit in chosen])
        for hit, document in zip(chosen, fetched, strict=True):
            if isinstance(document, SourceError):
                self._could_not(hit.locator, document)
            elif document.text_hash not in {each.text_hash for each in self.notebook.documents}:
                self.notebook.add(document)

    def _chosen(self) -> list[Hit]:
        """The best hits not tried yet, as many as this round's share of the sources allows."""
        waiting = [hit for hit in self.hits.values() if hit.locator not in self.tried]
        waiting.sort(key=lambda hit: (-hit.score, hit.locator))
        left = self.budget.left()
        share = left.sources if left.iterations == 0 else max(round(left.sources * self.pace.share_of_sources), 1)
        chosen = waiting[: self.budget.take_sources(min(len(waiting), share))]
        self.tried.update(hit.locator for hit in chosen)
        return chosen

    async def _document_of(self, hit: Hit) -> Document | SourceError:
        async def perform() -> Document:
            return await self._in_time(lambda: self.source.fetch(hit), self.pace.fetch_seconds)

        why = f"score {hit.score:.2f} in iteration {self.budget.iterations_run}"
        try:
            return await self.record.fetch(hit, perform, why)
        except SourceError as error:
            return error
        except ArchiveDamaged as error:
            return SourceError(str(error))

    async def _read(self) -> tuple[Sequence[Query], bool]:
        """Read the best passages; returns what to ask next and whether going on is worth it."""
        listed = self._reading_list()
        count = len(listed.passages)
        await self._report("read", f"reading {pluralize(count, 'passage')}")
        reading = await self.thinking.think(
            "read",
            Reading,
            lambda mind, allowed: mind.read(self.notebook, listed.passages, allowed),
            f"{count} best passages, {listed.unaffordable} did not fit",
        )
        if reading is None:
            return (), False
        self.notebook.note(reading, listed.passages)
        queries = self._new(reading.follow_ups)
        if reading.satisfied:
            return queries, False
        if listed.unaffordable and not listed.passages:
            self.budget.run_short(f"{self.budget.left().tokens} tokens were too few for the next passage")
            return queries, False
        return queries, bool(queries or listed.unaffordable or reading.unread)

    def _reading_list(self) -> ReadingList:
        """The best unread passages within this round's share of the tokens, or, if none fits, within all of them."""
        left = self.budget.left()
        share = left.tokens if left.iterations == 0 else round(left.tokens * self.pace.share_of_tokens)
        chosen = reading_list(self.index, share)
        if not chosen.passages and chosen.unaffordable:
            chosen = reading_list(self.index, left.tokens)
        return chosen

    async def _conclude(self) -> Draft:
        await self._report("conclude", "weighing the evidence")
        why = self.budget.shortages[-1] if self.budget.shortages else "nothing more is worth looking for"
        draft = await self.thinking.think("conclude", Draft, lambda mind, left: mind.conclude(self.notebook, left), why)
        if draft and draft.left_undone:
            self.budget.run_short(draft.left_undone)
        return draft or Draft()

    def _landed(self, draft: Draft) -> ResearchResult:
        for error in self.thinking.failures:
            self._could_not("mind", error)
        checked = grounded(draft, self.notebook)
        pluralize = {"claims": checked.claimed, "unsupported": checked.unsupported}
        told = {"result": pluralize, "rubric": self.rubric.told()}
        ground = self.record.note("ground", "", "every claim is held against its excerpts", told)
        notices = self.record.note("notices", "", "what was left out", {"result": list(self.source.notices())})
        flight = RunFacts(
            trace_id=self.record.trace_id,
            source=self.source.name,
            model_id=self.thinking.mind.model_id,
            began_on=self.record.began_on,
            elapsed=self.record.elapsed,
            failures=tuple(self.failures),
            left_out=_NOTICES.validate_python(notices.fields["result"]),
            rubric=Rubric.again(ground.fields.get("rubric")),
        )
        return build_result(draft, checked, self.notebook, self.budget, flight)

    async def _in_time(self, perform: Callable[[], Awaitable[T]], seconds: float) -> T:
        """A search or fetch within its own bound and the run's, whichever is nearer."""
        left = self.budget.left().seconds
        try:
            with anyio.fail_after(min(seconds, left)):
                return await perform()
        except TimeoutError as error:
            if left <= seconds:
                raise SourceError("the run's time was over", GapCategory.BUDGET_EXHAUSTED) from error
            raise SourceError(f"no answer within {seconds:g} s") from error

    async def _side_by_side(self, performances: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
        """All at once; the results in the order they were asked for, whatever order they arrive in."""
        results: dict[int, T] = {}

        async def perform(at: int) -> None:
            results[at] = await performances[at]()

        async with anyio.create_task_group() as group:
            for at in range(len(performances)):
                group.start_soon(perform, at)
        self.budget.at(self.record.elapsed)
        return [results[at] for at in range(len(performances))]

    def _new(self, queries: Sequence[Query]) -> list[Query]:
        """The queries not asked yet, each once, no longer and no more than a search should be given."""
        asked = {query.text for query in self.notebook.queries}
        aspects = {query.text.strip()[:LONGEST_QUERY]: query.aspect for query in queries}
        new = [text for text in aspects if text and text not in asked][:QUERIES_A_ROUND]
        domains, question = self.budget.limits.domains, self.notebook.question
        return [Query(text, aspects[text], domains, self.depth, question) for text in new]

    def _could_not(self, topic: str, error: SourceError) -> None:
        if error.category is GapCategory.BUDGET_EXHAUSTED:
            self.budget.run_short(f"{topic}: {error.detail}")
        else:
            self.failures.append(Gap(topic=topic, category=error.category, detail=error.detail))

    async def _report(self, step: str, message: str) -> None:
        await self.progress(
            Progress(
                trace_id=self.record.trace_id,
                step=step,
                message=message,
                iteration=self.budget.iterations_run,
                tokens_used=self.budget.tokens_used,
                token_budget=self.budget.limits.token_budget,
                sources=self.budget.sources_used,
            )
        )


def _named(queries: Sequence[Query]) -> str:
    return "; ".join(query.text for query in queries)
