"""Runs with given citations, and a source that has changed since."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from marchwarden.contract import Citation, ConfidenceFactors, CostMetadata, ResearchRequest, ResearchResult
from marchwarden.core.notebook import Document, Hit
from marchwarden.errors import SourceError
from marchwarden.storage.record import RunHeader, RunRecord
from marchwarden.storage.store import Store
from tests.world.memory import MemorySource

OPENING = RunHeader(ResearchRequest(question="q"), "memory", "memory", {}, "extractive", 0)


async def a_run(
    folder: Path,
    *documents: Document,
    excerpts: Sequence[str] = (),
    opening: RunHeader = OPENING,
    found_by: Mapping[str, str] | None = None,
) -> RunRecord:
    """A finished run that cites each document by an excerpt or completely. `found_by` maps locators to researchers."""
    store = Store(folder)
    record = store.begin(opening)
    quoted = excerpts or [document.text for document in documents]
    citations = []
    for document, excerpt in zip(documents, quoted, strict=True):

        async def perform(document: Document = document) -> Document:
            return document

        await record.fetch(Hit(document.locator), perform, "it is cited")
        start = document.text.index(excerpt)
        citations.append(
            Citation(
                source=document.source,
                locator=document.locate(start, start + len(excerpt)),
                raw_excerpt=excerpt,
                confidence=0.5,
                content_hash=document.content_hash,
                text_hash=document.text_hash,
                start=start,
                end=start + len(excerpt),
                researcher=(found_by or {}).get(document.locator),
            )
        )
    record.finish(
        ResearchResult(
            answer="",
            citations=tuple(citations),
            confidence=0.5,
            confidence_factors=ConfidenceFactors(
                num_corroborating_sources=1,
                source_authority="medium",
                contradiction_detected=False,
                query_specificity_match=0.5,
                budget_exhausted=False,
            ),
            cost_metadata=CostMetadata(
                tokens_used=0, iterations_run=1, wall_time_sec=0, budget_exhausted=False, model_id="extractive"
            ),
            trace_id=record.trace_id,
        )
    )
    return store.reread(record.trace_id)


@dataclass
class ChangedSource(MemorySource):
    """The source as it is today: `now` maps locators to documents. Counts concurrent fetches."""

    now: Mapping[str, Document | SourceError] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    remarks_on: Mapping[str, str] = field(default_factory=dict)
    active: int = 0
    max_concurrent: int = 0

    async def fetch(self, hit: Hit) -> Document:
        self.calls.append(hit.locator)
        self.active += 1
        self.max_concurrent = max(self.max_concurrent, self.active)
        try:
            await anyio.sleep(self.slow.get(hit.locator, 0))
        finally:
            self.active -= 1
        if hit.locator in self.remarks_on:
            self.remarks.append(self.remarks_on[hit.locator])
        found = self.now[hit.locator]
        if isinstance(found, SourceError):
            raise found
        return found

    def notices(self) -> Sequence[str]:
        return tuple(self.remarks)
