"""RunRecord: the journal and the archive of one run.

A recorded step is returned from the journal and never repeated; any other step is performed once, archived and
journaled. Resume and rerun follow from this rule. Knows nothing about the reasons for a step.
"""

import logging
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from typing import Any, Final, Literal, Self, TypeVar

from pydantic import TypeAdapter

from marchwarden.contract import GapCategory, ResearchRequest, ResearchResult
from marchwarden.core.blocks import decode_blocks, encode_blocks
from marchwarden.core.notebook import Document, Draft, Hit, Plan, Query, Reading, Thought
from marchwarden.errors import (
    MalformedTrace,
    MindError,
    NoAnswer,
    ReplayDiverged,
    SourceError,
    StorageError,
    TooLittleLeft,
)
from marchwarden.logs import log_event, timed
from marchwarden.storage.archive import Archive
from marchwarden.storage.trace import Journal, Json, TraceEntry, utc_now

T = TypeVar("T", Plan, Reading, Draft)
ThinkAction = Literal["plan", "read", "conclude"]

_HITS: Final = TypeAdapter(tuple[Hit, ...])
_DOCUMENT: Final = TypeAdapter(Document)
_THOUGHTS: Final[Mapping[type, TypeAdapter[Any]]] = {kind: TypeAdapter(kind) for kind in (Plan, Reading, Draft)}
_BODIES: Final = {"content", "text", "blocks"}
_URL: Final = re.compile("https?://", re.IGNORECASE)


@dataclass(frozen=True)
class RunHeader:
    """First line of a trace: the request, the researcher, and the settings needed to rebuild it."""

    request: ResearchRequest
    researcher: str
    source: str
    settings: Mapping[str, object]
    model_id: str
    conclusion_tokens: int

    def fields(self, trace_id: str) -> Json:
        return {
            "trace_id": trace_id,
            "request": self.request.model_dump(mode="json", exclude_unset=True),
            "researcher": self.researcher,
            "source": self.source,
            "settings": self.settings,
            "model_id": self.model_id,
            "conclusion_tokens": self.conclusion_tokens,
        }

    @classmethod
    def from_trace(cls, chain: Sequence[TraceEntry], trace_id: str) -> Self:
        try:
            return TypeAdapter(cls).validate_python(chain[0].fields)
        except (IndexError, ValueError) as error:
            raise MalformedTrace(f"trace {trace_id}: its first line is not the start of a run") from error


@dataclass(frozen=True)
class ThinkStep:
    """Identifies one thought of a run, the main one of an iteration or its fallback, independent of the mind.

    `numbering` identifies the numbering of the evidence that the thought may cite.
    """

    action: ThinkAction
    iteration: int
    model_id: str
    is_fallback: bool = False
    numbering: str = ""

    @property
    def key(self) -> str:
        return f"{self.iteration} fallback" if self.is_fallback else str(self.iteration)


class RunRecord:
    """Journal and archive of one run. Without a journal it is read-only."""

    def __init__(
        self,
        trace_id: str,
        archive: Archive,
        journal: Journal | None,
        entries: Iterable[TraceEntry] = (),
        *,
        rethink: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.trace_id = trace_id
        self.archive = archive
        self.elapsed = 0.0
        self._journal = journal
        known = journal.entries if journal else entries
        self._known = {(entry.action, str(entry.fields.get("key", ""))): entry for entry in known}
        self._clock = clock
        self._began = clock()
        self._rethink = rethink
        self._borrowed: dict[tuple[str, str], TraceEntry] = {}

    @property
    def failure(self) -> str:
        """Why a step of this run was not written to the trace. Empty if all were."""
        return self._journal.refused if self._journal else ""

    @property
    def complete(self) -> bool:
        """Whether every step of this run was written to the trace."""
        return not self.failure

    @property
    def has_begun(self) -> bool:
        """Whether there is more in the trace than the request."""
        return any(entry.action != "start" for entry in self._known.values())

    @property
    def header(self) -> RunHeader:
        return RunHeader.from_trace([entry for entry in self._known.values() if entry.action == "start"], self.trace_id)

    @property
    def began_on(self) -> date:
        """Day on which the run began. Relative dates such as "a year ago" count from it, also in reruns."""
        entry = self._known.get(("start", ""))
        return datetime.fromisoformat(entry.timestamp).date() if entry and entry.timestamp else utc_now().date()

    @property
    def result(self) -> ResearchResult | None:
        entry = self._known.get(("result", ""))
        return ResearchResult.model_validate(entry.fields["result"]) if entry else None

    def start_clock(self) -> float:
        """Start counting time from the last recorded step. Time between a stop and a resume does not count.

        Returns the seconds since the record was opened, which are not counted either.
        """
        now = self._clock()
        uncounted = round(now - self._began, 3)
        self._began = now - max((_elapsed(entry) for entry in self._known.values()), default=0.0)
        return uncounted

    def add_elapsed(self, seconds: float) -> None:
        """Add time that other processes spent on this run while it was stopped."""
        self._began -= seconds

    def has_step(self, action: str, key: str) -> bool:
        """Whether this step is recorded."""
        return (action, key) in self._known

    def borrow(self, entries: Iterable[TraceEntry]) -> None:
        """Use recorded steps of another run. Each is journaled here when it is first needed."""
        self._borrowed = {(entry.action, str(entry.fields.get("key", ""))): entry for entry in entries}

    async def search(self, query: Query, perform: Callable[[], Awaitable[Sequence[Hit]]], why: str) -> tuple[Hit, ...]:
        entry = self._recall("search", query.text)
        if entry is None:
            fields: Json
            try:
                found = await timed("search", perform, lambda hits: {"found": len(hits)}, query=query.text)
                fields = {"result": _HITS.dump_python(tuple(found), mode="json")}
            except SourceError as error:
                fields = _error_fields(error)
            entry = self.note("search", query.text, why, {"query": query.text, **fields})
        _raise_if_failed(entry)
        return _HITS.validate_python(entry.fields["result"])

    async def fetch(self, hit: Hit, perform: Callable[[], Awaitable[Document]], why: str) -> Document:
        """Fetch a document. Bytes and text are archived before the trace line that names them is written."""
        entry = self._recall("fetch", hit.locator)
        if entry is None:
            try:
                document = await timed("fetch", perform, lambda got: {"bytes": len(got.content)}, locator=hit.locator)
            except SourceError as error:
                self.note("fetch", hit.locator, why, {**_locator_fields(hit.locator), **_error_fields(error)})
                raise
            self.note("fetch", hit.locator, why, self._archive_document(document))
            return document
        _raise_if_failed(entry)
        return self.load_document(entry.fields)

    async def dispatch(
        self, number: int, about: Json, perform: Callable[[], Awaitable[ResearchResult]], why: str
    ) -> ResearchResult:
        """Run a dispatch and archive its result unchanged. `perform` raises `NoAnswer` if the researcher fails."""
        entry = self._recall("dispatch", str(number))
        if entry is None:
            try:
                result = await timed("dispatch", perform, _summarize, researcher=about.get("researcher"))
            except NoAnswer as error:
                what: Json = {"detail": error.detail, "tokens": error.tokens, "called_off": error.called_off}
                self.note("dispatch", str(number), why, {**about, "error": what})
                raise
            kept = self._archive_bytes(result.model_dump_json().encode())
            self.note("dispatch", str(number), why, {**about, "trace_id": result.trace_id, "result_hash": kept})
            return result
        if failed := _error_of(entry):
            tokens, called_off = int(str(failed.get("tokens"))), bool(failed.get("called_off"))
            raise NoAnswer(str(failed.get("detail")), tokens, called_off=called_off)
        return ResearchResult.model_validate_json(self.archive.load(str(entry.fields["result_hash"])))

    def assign_run(self, number: int, trace_id: str) -> str:
        """Return the recorded run id of a dispatch, or record `trace_id` as its id before any cost arises."""
        entry = self.note("send", str(number), "so that it can be resumed", {"trace_id": trace_id})
        return str(entry.fields["trace_id"])

    def fetched(self) -> dict[str, Json]:
        """Return the fields of all fetched documents by the hash of their text."""
        fetches = [entry.fields for entry in self._known.values() if entry.action == "fetch"]
        return {str(fields["text_hash"]): fields for fields in fetches if fields.get("text_hash")}

    def load_document(self, fetched: Json) -> Document:
        """Rebuild a fetched document with bytes and text from the archive."""
        content = self.archive.load(str(fetched["content_hash"]))
        text = self.archive.load(str(fetched["text_hash"])).decode()
        described = fetched["result"]
        assert isinstance(described, Mapping)
        # Traces of earlier versions have no blocks.
        blocks_hash = fetched.get("blocks_hash")
        blocks = decode_blocks(self.archive.load(str(blocks_hash)).decode()) if blocks_hash else ()
        return replace(_DOCUMENT.validate_python({**described, "content": content, "text": text}), blocks=blocks)

    async def think(
        self, step: "ThinkStep", kind: type[T], perform: Callable[[], Awaitable[Thought[T]]], why: str
    ) -> Thought[T]:
        """Return the recorded thought at no cost, even if another mind is used now, or perform and record it."""
        adapter: TypeAdapter[T] = _THOUGHTS[kind]
        entry = self._recall(step.action, step.key)
        if entry is None:
            bill: Json
            try:
                thought = await timed(step.action, perform, lambda had: {"tokens": had.tokens}, model=step.model_id)
            except MindError as error:
                bill = {"model": step.model_id, "tokens": error.tokens, "exchange": self._archive_bytes(error.exchange)}
                what: Json = {"detail": error.detail, "too_little_left": isinstance(error, TooLittleLeft)}
                what = {**what, "permanent": True} if error.permanent else what
                self.note(step.action, step.key, why, {**bill, "error": what})
                raise
            value = adapter.dump_python(thought.value, mode="json")
            bill = {"model": step.model_id, "tokens": thought.tokens, "exchange": self._archive_bytes(thought.exchange)}
            usage = asdict(thought.usage) if thought.usage else None
            about: Json = {"usage": usage, "numbering": step.numbering, "result": value}
            self.note(step.action, step.key, why, {**bill, **about})
            return thought
        tokens = int(str(entry.fields["tokens"]))
        if "error" in entry.fields:
            failed = _error_of(entry)
            kind_of_error = TooLittleLeft if failed.get("too_little_left") else MindError
            raise kind_of_error(str(failed.get("detail")), tokens, permanent=bool(failed.get("permanent")))
        if self._rethink:
            return await perform()
        if entry.fields.get("numbering", step.numbering) != step.numbering:
            raise ReplayDiverged(
                f"trace {self.trace_id} was recorded by a version that splits text into sentences differently, so its "
                "evidence ids do not match; ask the question again"
            )
        return Thought(adapter.validate_python(entry.fields["result"]), tokens)

    def note(self, action: str, key: str, why: str, fields: Json) -> TraceEntry:
        """Write one line, or return the existing one. If the write fails, the trace is marked as incomplete."""
        known = self._recall(action, key)
        if known is not None:
            return known
        if self._journal is None:
            raise ReplayDiverged(f"the trace holds no {action} for {key!r}")
        # Rounded before use, because a rerun must see the same time as the run.
        self.elapsed = max(self.elapsed, round(self._clock() - self._began, 3))
        line: Json = {"key": key, "elapsed": self.elapsed, **fields}
        try:
            entry = self._journal.append(action, why, line)
        except StorageError as error:
            log_event("could not write a trace line", logging.WARNING, action=action, why=error)
            entry = TraceEntry(0, action, "", why, line, "")
        self._known[action, key] = entry
        return entry

    def finish(self, result: ResearchResult) -> ResearchResult:
        """Write the result and close the trace. An incomplete trace is marked as incomplete instead."""
        if self._journal is None:
            return result
        if self.complete:
            self.note("result", "", "the run is over", {"result": result.model_dump(mode="json")})
        self.close()
        return result if self.complete else result.model_copy(update={"trace_complete": False})

    def discard(self) -> None:
        """Delete the trace of a run that has not begun."""
        if self._journal is not None and not self.has_begun:
            self._journal.discard()

    def close(self) -> None:
        if self._journal is None:
            return
        if not self.complete:
            self._journal.mark_incomplete()
        self._journal.close()

    def _recall(self, action: str, key: str) -> TraceEntry | None:
        entry = self._known.get((action, key)) or self._adopt_borrowed(action, key)
        if entry is not None:
            self.elapsed = max(self.elapsed, _elapsed(entry))
        return entry

    def _adopt_borrowed(self, action: str, key: str) -> TraceEntry | None:
        """Journal a borrowed step as a step of this run. Its time and tokens count, because they were spent."""
        borrowed = self._borrowed.pop((action, key), None)
        if borrowed is None:
            return None
        self.elapsed = max(self.elapsed, _elapsed(borrowed))
        return self.note(
            action, key, f"step {borrowed.step} of the run this one forks: {borrowed.decision}", borrowed.fields
        )

    def _archive_document(self, document: Document) -> Json:
        self._archive_bytes(document.content)
        self._archive_bytes(document.text.encode())
        blocks = encode_blocks(document.blocks).encode() if document.blocks else None
        return {
            **_locator_fields(document.locator),
            "content_hash": document.content_hash,
            "content_length": len(document.content),
            "text_hash": document.text_hash,
            **({"blocks_hash": self._archive_bytes(blocks)} if blocks else {}),
            "result": _DOCUMENT.dump_python(document, mode="json", exclude=_BODIES),
        }

    def _archive_bytes(self, content: bytes | None) -> str | None:
        if content is None:
            return None
        try:
            return self.archive.keep(content)
        except StorageError as error:
            if self._journal:
                self._journal.refuse(str(error))
            return None


def _summarize(result: ResearchResult) -> Json:
    spent = result.cost_metadata.tokens_used
    return {"answered_in": result.trace_id, "citations": len(result.citations), "tokens": spent}


def _elapsed(entry: TraceEntry) -> float:
    value = entry.fields.get("elapsed")
    return float(value) if isinstance(value, int | float) else 0.0


def _locator_fields(locator: str) -> Json:
    """Return the locator of a fetch, also as `url` if it is one."""
    return {"url": locator, "locator": locator} if _URL.match(locator) else {"locator": locator}


def _error_fields(error: SourceError) -> Json:
    return {"error": {"category": error.category.value, "detail": error.detail}}


def _error_of(entry: TraceEntry) -> Mapping[str, object]:
    error = entry.fields.get("error")
    return error if isinstance(error, Mapping) else {}


def _raise_if_failed(entry: TraceEntry) -> None:
    error = _error_of(entry)
    if error:
        raise SourceError(str(error.get("detail")), GapCategory(str(error.get("category"))))
