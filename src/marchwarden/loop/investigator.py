"""The research loop: plan, then search, fetch and read until the question is answered, then conclude and ground.

An `Investigator` combines a source and a mind; an `Investigation` is one run of it. Only the loop spends budget and
records steps. External failures become gaps. A run ends without a result only if it is cancelled.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

import anyio
from pydantic import TypeAdapter

from marchwarden.contract import Gap, GapCategory, ResearchRequest, ResearchResult
from marchwarden.core.notebook import Document, Draft, Hit, Plan, Query, Reading
from marchwarden.errors import ArchiveDamaged, InvalidInput, SourceError
from marchwarden.evidence.ranking import PassageIndex, ReadingList, reading_list
from marchwarden.loop.recorded import RecordedResearcher
from marchwarden.loop.result import MODEL_TOPIC
from marchwarden.loop.run import ResearchRun
from marchwarden.loop.source_calls import SourceCalls
from marchwarden.protocols import PREPARE, WARNING, Mind, ProgressSink, Source
from marchwarden.storage.record import RunRecord
from marchwarden.storage.store import Store
from marchwarden.text.sanitize import pluralize
from marchwarden.text.words import WordStemmer

T = TypeVar("T")

LONGEST_QUERY: Final = 2_000
"""Long enough for SQL. Providers with a shorter limit enforce it themselves."""
QUERIES_PER_ROUND: Final = 6


@dataclass(frozen=True)
class _SkippedContent:
    """What a source skipped, as a line of a trace. The names are part of the trace format."""

    result: tuple[str, ...]
    unread: tuple[str, ...] = ()
    skipped: str = ""
    indexing_sec: float | None = None


_SKIPPED: Final = TypeAdapter(_SkippedContent)


@dataclass(frozen=True)
class Pace:
    """Time limit of each step, and the share of the remaining budget that one iteration may use."""

    search_seconds: float = 30.0
    fetch_seconds: float = 30.0
    share_of_sources: float = 0.7
    share_of_tokens: float = 0.5


class Investigator(RecordedResearcher):
    """A researcher that answers from one source."""

    def __init__(
        self, source: Source, mind: Mind, *, store: Store, fallback: Mind, name: str = "", pace: Pace | None = None
    ) -> None:
        super().__init__(mind, store=store, fallback=fallback, name=name or source.name)
        self.source = source
        self.pace = pace or Pace()

    @property
    def source_name(self) -> str:
        return self.source.name

    @property
    def settings(self) -> Mapping[str, object]:
        return self.source.settings

    async def investigate(self, request: ResearchRequest, record: RunRecord, progress: ProgressSink) -> ResearchResult:
        return await Investigation(self, request, record, progress).run()


class Investigation(ResearchRun):
    """One run of an `Investigator`."""

    def __init__(
        self, investigator: Investigator, request: ResearchRequest, record: RunRecord, progress: ProgressSink
    ) -> None:
        super().__init__(investigator, request, record, progress)
        self.source = SourceCalls(investigator.source)
        self.pace = investigator.pace
        self.index = PassageIndex(self.notebook, WordStemmer.for_text(self.notebook.question))
        self.hits: dict[str, Hit] = {}
        self.tried: set[str] = set()
        self.failures: list[Gap] = []
        self.warnings: set[str] = set()
        self.prepare_seconds = 0.0

    @property
    def sources_read(self) -> int:
        return self.budget.sources_used

    async def run(self) -> ResearchResult:
        await self._prepare()
        queries = await self._plan()
        worth_continuing = bool(queries)
        while worth_continuing and self._can_continue(queries):
            self.budget.begin_iteration()
            await self._search(queries)
            await self._fetch()
            queries, worth_continuing = await self._read()
        await self._report_warnings()
        return self._finish(await self._conclude())

    async def _prepare(self) -> None:
        try:
            await self.source.ready(partial(self._report, PREPARE))
            self.notebook.guide = self.source.guide()
        except SourceError as error:
            self._add_failure(self.source_name, error)
        except InvalidInput:
            # Recorded steps still lead to a result if the source has become empty since.
            if not self.record.has_begun:
                raise
        await self._report_warnings()
        self.prepare_seconds = self.record.start_clock()

    async def _plan(self) -> Sequence[Query]:
        await self._report("plan", "planning what to look for")
        plan = await self._ask_for_plan() or Plan((Query(self.notebook.question),))
        return self._new_queries(plan.queries)

    def _can_continue(self, queries: Sequence[Query]) -> bool:
        """Check whether the budget allows another iteration. If not, record the unfinished work."""
        left = self.budget.left()
        limits = {
            f"all {self.limits.max_iterations} iterations were used": left.iterations == 0,
            # The first reading costs nothing if the fallback has to do it.
            f"all {self.limits.token_budget} tokens were used": left.tokens == 0 and bool(self.notebook.read),
            f"all {self.limits.max_sources} sources were fetched": bool(queries) and left.sources == 0,
            f"the time limit of {self.budget.wall_time_sec:g} seconds was reached": left.seconds == 0,
        }
        return not self._has_run_short(limits, _describe(queries) or "everything found was read")

    async def _search(self, queries: Sequence[Query]) -> None:
        await self._report("search", f"searching: {_describe(queries)}" if queries else "nothing new to search")
        self.notebook.queries.extend(queries)
        answers = await self._run_all([partial(self._search_one, query) for query in queries])
        for query, answer in zip(queries, answers, strict=True):
            if isinstance(answer, SourceError):
                self._add_failure(f"search: {query.text}", answer, locator=f"search: {query.text}")
                continue
            for hit in answer:
                known = self.hits.get(hit.locator)
                if known is None or hit.score > known.score:
                    self.hits[hit.locator] = hit

    async def _search_one(self, query: Query) -> Sequence[Hit] | SourceError:
        async def perform() -> Sequence[Hit]:
            return await self.source.search(query, self.pace.search_seconds, self.budget.left().seconds)

        why = f"iteration {self.budget.iterations_run}: {query.aspect or 'the question'}"
        try:
            return await self.record.search(query, perform, why)
        except SourceError as error:
            return error

    async def _fetch(self) -> None:
        chosen = self._choose_hits()
        if chosen:
            await self._report("fetch", f"reading {len(chosen)} of {len(self.hits)} sources found")
        fetched = await self._run_all([partial(self._fetch_one, hit) for hit in chosen])
        for hit, document in zip(chosen, fetched, strict=True):
            if isinstance(document, SourceError):
                self._add_failure(hit.locator, document, locator=hit.locator)
            elif document.text_hash not in {each.text_hash for each in self.notebook.documents}:
                self.notebook.add(document)

    def _choose_hits(self) -> list[Hit]:
        """Choose the best untried hits, up to this iteration's share of the sources."""
        waiting = [hit for hit in self.hits.values() if hit.locator not in self.tried]
        waiting.sort(key=lambda hit: (-hit.score, hit.locator))
        left = self.budget.left()
        share = left.sources if left.iterations == 0 else max(round(left.sources * self.pace.share_of_sources), 1)
        chosen = waiting[: self.budget.take_sources(min(len(waiting), share))]
        self.tried.update(hit.locator for hit in chosen)
        return chosen

    async def _fetch_one(self, hit: Hit) -> Document | SourceError:
        async def perform() -> Document:
            return await self.source.fetch(hit, self.pace.fetch_seconds, self.budget.left().seconds)

        why = f"score {hit.score:.2f} in iteration {self.budget.iterations_run}"
        try:
            return await self.record.fetch(hit, perform, why)
        except SourceError as error:
            return error
        except ArchiveDamaged as error:
            return SourceError(str(error))

    async def _read(self) -> tuple[Sequence[Query], bool]:
        """Read the best passages. Returns the next queries and whether to continue."""
        listed = self._choose_passages()
        count = len(listed.passages)
        await self._report("read", f"reading {pluralize(count, 'passage')}")
        reading = await self.mind_calls.think(
            "read",
            Reading,
            lambda mind, allowed: mind.read(self.notebook, listed.passages, allowed),
            f"{count} best passages, {listed.unaffordable} did not fit",
        )
        if reading is None:
            return (), False
        self.notebook.note(reading, listed.passages)
        queries = self._new_queries(reading.follow_ups)
        if reading.satisfied:
            return queries, False
        if listed.unaffordable and not listed.passages:
            self.budget.run_short(f"{self.budget.left().tokens} tokens were not enough for the next passage")
            return queries, False
        return queries, bool(queries or listed.unaffordable or reading.unread)

    def _choose_passages(self) -> ReadingList:
        """Choose the best unread passages that fit this iteration's share of the tokens, or all tokens if none fits.

        The first reading happens in any case: if it is too expensive for the mind, the fallback reads for free.
        """
        left = self.budget.left()
        share = left.tokens if left.iterations == 0 else round(left.tokens * self.pace.share_of_tokens)
        chosen = reading_list(self.index, share)
        for tokens in (left.tokens, 0 if self.notebook.read else self.limits.token_budget):
            if not chosen.passages and chosen.unaffordable:
                chosen = reading_list(self.index, tokens)
        return chosen

    async def _conclude(self) -> Draft:
        await self._report("conclude", "weighing the evidence")
        return await self._ask_for_draft("no further search is worthwhile")

    def _finish(self, draft: Draft) -> ResearchResult:
        for error in self.mind_calls.failures:
            self._add_failure(MODEL_TOPIC, error)
        checked = self._ground(draft)
        skipped = self._note_skipped()
        left_out = skipped.result if checked.citations else (*skipped.result, *skipped.unread)
        return self._build_result(draft, checked, self.failures, left_out, skipped.indexing_sec)

    def _note_skipped(self) -> "_SkippedContent":
        """Record what the source skipped, and how long it indexed files."""
        fields: dict[str, object] = {"result": self.source.notices()}
        if left_out := self.source.left_out():
            fields |= {"unread": left_out.unread, "skipped": left_out.summary, "indexing_sec": self.prepare_seconds}
        entry = self.record.note("notices", "", "skipped content", fields)
        return _SKIPPED.validate_python(entry.fields)

    async def _run_all(self, tasks: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
        """Run all tasks concurrently. Returns the results in the order of the tasks."""
        results: dict[int, T] = {}

        async def perform(at: int) -> None:
            results[at] = await tasks[at]()

        async with anyio.create_task_group() as group:
            for at in range(len(tasks)):
                group.start_soon(perform, at)
        self.budget.at(self.record.elapsed)
        return [results[at] for at in range(len(tasks))]

    def _new_queries(self, queries: Sequence[Query]) -> list[Query]:
        """Return queries that were not sent yet, without duplicates, cut to the allowed length and number."""
        already_sent = {query.text for query in self.notebook.queries}
        aspects = {query.text.strip()[:LONGEST_QUERY]: query.aspect for query in queries}
        new = [text for text in aspects if text and text not in already_sent][:QUERIES_PER_ROUND]
        domains, question = self.limits.domains, self.notebook.question
        return [Query(text, aspects[text], domains, self.request.depth, question) for text in new]

    async def _report_warnings(self) -> None:
        """Report the warnings of the source that were not reported yet."""
        for warning in self.source.warnings():
            if warning not in self.warnings:
                self.warnings.add(warning)
                await self._report(WARNING, warning)

    def _add_failure(self, topic: str, error: SourceError, locator: str | None = None) -> None:
        if error.category is GapCategory.BUDGET_EXHAUSTED:
            self.budget.run_short(f"{topic}: {error.detail}")
        else:
            self.failures.append(Gap(topic=topic, category=error.category, detail=error.detail, locator=locator))


def _describe(queries: Sequence[Query]) -> str:
    return "; ".join(query.text for query in queries)
