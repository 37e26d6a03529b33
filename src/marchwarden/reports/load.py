"""Load a stored run from its trace and archive and verify it. Does not write or fetch anything."""

from collections.abc import Iterable
from datetime import date

from marchwarden.audit.verify import verify
from marchwarden.contract import Dispatch, ResearchResult
from marchwarden.errors import ArchiveDamaged, MalformedTrace, UnknownTrace
from marchwarden.reports.bundle import Bundle, ReportMember, ReportRun, source_texts
from marchwarden.storage.record import RunHeader
from marchwarden.storage.store import Store


def load_bundle(store: Store, trace_id: str, made_on: date) -> Bundle:
    """Load everything a report needs. Raise `MalformedTrace` for a damaged run or one without a result."""
    chain = store.chain(trace_id)
    if chain.damage:
        raise MalformedTrace(
            f"trace {trace_id}: {chain.damage}; run `marchwarden verify {trace_id}` to see what is intact"
        )
    run = ReportRun(trace_id, RunHeader.from_trace(chain.entries, trace_id), chain.entries)
    result = store.reread(trace_id).result
    if result is None:
        raise MalformedTrace(f"trace {trace_id} has no result yet; finish it with `marchwarden resume {trace_id}`")
    members = tuple(_members(store, result.dispatches))
    return Bundle(
        run=run,
        result=result,
        sources=source_texts(result, run, members, _texts(store, result)),
        members=members,
        checks=tuple(verify(store, trace_id)),
        made_on=made_on,
    )


def _members(store: Store, dispatches: Iterable[Dispatch]) -> Iterable[ReportMember]:
    """Yield the dispatched runs that are in the same store and answer the dispatched question."""
    for dispatch in dispatches:
        if dispatch.trace_id is None:
            continue
        try:
            entries = store.chain(dispatch.trace_id).entries
            opening = RunHeader.from_trace(entries, dispatch.trace_id)
        except (UnknownTrace, MalformedTrace):
            continue
        if opening.request.question == dispatch.question.strip():
            yield ReportMember(dispatch, ReportRun(dispatch.trace_id, opening, entries))


def _texts(store: Store, result: ResearchResult) -> dict[str, str]:
    texts: dict[str, str] = {}
    for name in {citation.text_hash for citation in result.citations if citation.text_hash}:
        try:
            texts[name] = store.archive.load(name).decode()
        except (ArchiveDamaged, UnicodeDecodeError):
            continue
    return texts
