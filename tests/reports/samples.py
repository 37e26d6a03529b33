"""Write sample runs directly into a store, so that reports can be made of any content."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import anyio

from marchwarden.audit.prices import Prices
from marchwarden.audit.verify import Check
from marchwarden.contract import (
    Citation,
    ConfidenceFactors,
    CostMetadata,
    DiscoveryEvent,
    Dispatch,
    Gap,
    GapCategory,
    OpenQuestion,
    ResearchRequest,
    ResearchResult,
)
from marchwarden.core.notebook import Document, Draft, Hit, Plan, Query, Thought, Usage
from marchwarden.evidence.confidence import Rubric
from marchwarden.reports.bundle import Bundle, ReportRun, source_texts
from marchwarden.reports.load import load_bundle
from marchwarden.reports.page import render_page
from marchwarden.storage.record import RunHeader, RunRecord, ThinkStep
from marchwarden.storage.store import Store
from marchwarden.storage.trace import Json, TraceEntry

TODAY = date(2026, 11, 16)
QUESTION = "How long is the main span of the Alder Bridge?"
MODEL = "anthropic:claude-sonnet-4-6"
AROUND = "The road over the river Senn is kept by the board. " * 12


@dataclass(frozen=True)
class SampleCitation:
    """One document, the excerpt cited from it, and the researcher that found it."""

    locator: str
    excerpt: str
    title: str = ""
    before: str = AROUND
    after: str = AROUND
    researcher: str | None = None
    published: date | None = None

    @property
    def document(self) -> Document:
        text = f"{self.before}\n\n{self.excerpt} {self.after}"
        body = f"<p>{text}".encode(errors="replace")
        return Document("web", self.locator, body, text, title=self.title, author="Ines Hale", published=self.published)

    @property
    def citation(self) -> Citation:
        document, start = self.document, len(self.before) + 2
        return Citation(
            source="web",
            locator=self.locator,
            title=self.title or None,
            raw_excerpt=self.excerpt,
            confidence=0.8,
            content_hash=document.content_hash,
            text_hash=document.text_hash,
            start=start,
            end=start + len(self.excerpt),
            published=self.published,
            authority="high",
            researcher=self.researcher,
        )


@dataclass(frozen=True)
class SampleRun:
    """The content of a sample run. Citations are numbered in the order given."""

    answer: str
    cited: Sequence[SampleCitation] = ()
    gaps: Sequence[Gap] = ()
    discoveries: Sequence[DiscoveryEvent] = ()
    questions: Sequence[OpenQuestion] = ()
    dispatches: Sequence[Dispatch] = ()
    question: str = QUESTION
    researcher: str = "web"
    contradicted: bool = False
    searches: Sequence[str] = field(default=("main span Alder Bridge",))

    def result(self, trace_id: str) -> ResearchResult:
        factors = ConfidenceFactors(
            num_corroborating_sources=2,
            source_authority="high",
            contradiction_detected=self.contradicted,
            query_specificity_match=0.92,
            budget_exhausted=False,
            recency="recent",
        )
        return ResearchResult(
            answer=self.answer,
            citations=tuple(each.citation for each in self.cited),
            gaps=tuple(self.gaps),
            discovery_events=tuple(self.discoveries),
            open_questions=tuple(self.questions),
            dispatches=tuple(self.dispatches),
            confidence=Rubric.shipped().score(factors),
            confidence_factors=factors,
            cost_metadata=CostMetadata(
                tokens_used=4200, iterations_run=1, wall_time_sec=3.4, budget_exhausted=False, model_id=MODEL
            ),
            trace_id=trace_id,
        )


class Clock:
    """A clock that advances with every reading."""

    def __init__(self, tick: float = 0.35) -> None:
        self.now, self.tick = 0.0, tick

    def __call__(self) -> float:
        self.now += self.tick
        return self.now


def write_run(store: Store, sample: SampleRun) -> str:
    """Write a complete run to the store and return its id."""
    record = store.begin(_header(sample))
    record._clock, record._began = Clock(), 0.0
    anyio.run(_record_steps, record, sample)
    record.finish(sample.result(record.trace_id))
    return record.trace_id


def write_bare_run(store: Store, sample: SampleRun) -> str:
    """Write a run with only its start and its result, and return its id."""
    record = store.begin(_header(sample))
    record.finish(sample.result(record.trace_id))
    return record.trace_id


def _header(sample: SampleRun) -> RunHeader:
    return RunHeader(
        request=ResearchRequest.model_validate({"question": sample.question}),
        researcher=sample.researcher,
        source="web",
        settings={},
        model_id=MODEL,
        conclusion_tokens=1000,
    )


async def _record_steps(record: RunRecord, sample: SampleRun) -> None:
    async def plan() -> Thought[Plan]:
        return Thought(Plan(tuple(map(Query, sample.searches))), 600, usage=Usage(500, 100, 0, 0))

    async def conclude() -> Thought[Draft]:
        return Thought(Draft(), 3600, usage=Usage(3000, 600, 0, 0))

    async def nothing() -> Sequence[Hit]:
        return ()

    await record.think(ThinkStep("plan", 0, MODEL), Plan, plan, "the run begins")
    for query in sample.searches:
        await record.search(Query(query), nothing, "iteration 1: the question")
    for number, asked in enumerate(sample.dispatches, 1):
        about = {"researcher": asked.researcher, "question": asked.question, "trace_id": asked.trace_id}
        record.note("dispatch", str(number), asked.reason, about)
    for each in dict.fromkeys(sample.cited):

        async def perform(document: Document = each.document) -> Document:
            return document

        await record.fetch(Hit(each.locator), perform, "score 1.00 in iteration 1")
    await record.think(ThinkStep("conclude", 1, MODEL), Draft, conclude, "no further search is worthwhile")
    record.note("ground", "", "check every claim against its excerpts", {"result": {"claims": 3, "unsupported": 0}})


def a_pi_run(store: Store) -> str:
    """Write a PI run with two researchers, a conflict, and everything else a report can show."""
    board = SampleCitation(
        "https://rivers.senn.gov/bridges/alder?view=full&lang=en",
        "The main span of the Alder Bridge is 212 metres long.",
        "The Alder Bridge",
        researcher="web",
        published=date(2023, 3, 14),
    )
    blog = SampleCitation(
        "https://spanspotting.blog.example/alder",
        "The main span of the Alder Bridge is 240 metres long.",
        "My favourite spans",
        researcher="files",
    )
    web = write_run(store, SampleRun("212 metres. [1]", [board]))
    files = write_run(store, SampleRun("240 metres. [1]", [blog], researcher="files"))
    sample = SampleRun(
        answer="The main span of the Alder Bridge is 212 metres long. [1]\n\n"
        "Sources disagree: main span Alder Bridge: compare [1] with [2].",
        cited=[board, blog],
        gaps=[Gap(topic=f"about {each.value}", category=each, detail="it was not there") for each in GapCategory],
        discoveries=[
            DiscoveryEvent(
                type="new_source",
                suggested_researcher="arxiv",
                query="https://arxiv.org/abs/2401.01234",
                reason="The board's page points at it.",
                source_locator="https://rivers.senn.gov/bridges/alder",
            )
        ],
        questions=[
            OpenQuestion(question="Is it painted?", context="One page shows it red.", priority="low"),
            OpenQuestion(question="Was it measured again?", context="The survey is of 1931.", priority="high"),
        ],
        dispatches=[
            _dispatch("web", web),
            _dispatch("files", files),
            Dispatch(researcher="arxiv", question=QUESTION, reason="the plan", outcome="no answer: it hung"),
        ],
        researcher="pi",
        contradicted=True,
    )
    return write_run(store, sample)


def _dispatch(name: str, trace_id: str) -> Dispatch:
    return Dispatch(
        researcher=name,
        question=QUESTION,
        reason="the plan",
        outcome="1 citations, 0 gaps",
        trace_id=trace_id,
        confidence=0.78,
        tokens_used=4200,
    )


def prices() -> Prices:
    return Prices.load(Path("no-such-prices.toml"))


def bundle_of(folder: Path, sample: SampleRun) -> Bundle:
    store = Store(folder)
    return load_bundle(store, write_run(store, sample), TODAY)


def bundle_without_store(sample: SampleRun) -> Bundle:
    """Build a bundle without a store. Its checks and errors contain the texts of the run as well."""
    result, opening = sample.result("4b6b2a52-6f3c-4f0e-9d0a-0d8a3f0f7a11"), _header(sample)
    actions: list[tuple[str, str, Json]] = [("start", "", {})]
    actions += [("search", query, {"error": {"detail": query}}) for query in sample.searches]
    for each in sample.cited:
        document = each.document
        known = {"locator": each.locator, "content_hash": document.content_hash, "text_hash": document.text_hash}
        actions.append(("fetch", each.locator, {**known, "content_length": 9, "result": {"title": each.title}}))
    entries = tuple(
        TraceEntry(step, action, "2026-11-16T00:58:54.855Z", key, {"key": key, "elapsed": step / 10, **fields}, "")
        for step, (action, key, fields) in enumerate(actions, 1)
    )
    run = ReportRun(result.trace_id, opening, entries)
    texts = {each.document.text_hash: each.document.text for each in sample.cited}
    checks = tuple(Check(each.title, number % 2 == 0, each.excerpt) for number, each in enumerate(sample.cited))
    return Bundle(run, result, source_texts(result, run, (), texts), (), checks, TODAY)


def page_of(folder: Path, sample: SampleRun) -> str:
    return render_page(bundle_of(folder, sample), prices())
