"""Bundle: everything a report needs, already loaded. Does not read the disk or write HTML."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from marchwarden.audit.verify import Check
from marchwarden.contract import Citation, Dispatch, ResearchResult
from marchwarden.storage.record import RunHeader
from marchwarden.storage.trace import Json, TraceEntry


@dataclass(frozen=True)
class ReportRun:
    """One run: its header and trace entries."""

    trace_id: str
    opening: RunHeader
    entries: tuple[TraceEntry, ...]


@dataclass(frozen=True)
class ReportMember:
    """A researcher's run, and the dispatch that started it."""

    dispatch: Dispatch
    run: ReportRun


@dataclass(frozen=True)
class NumberedCitation:
    """A citation with its number in the answer."""

    number: int
    citation: Citation


@dataclass(frozen=True)
class SourceText:
    """A cited document: where it is, when it was fetched, and its archived text (None if lost)."""

    number: int
    kind: str
    locator: str
    title: str
    author: str
    published: date | None
    authority: str
    researchers: tuple[str, ...]
    fetched: str
    content_hash: str
    content_length: int
    text_hash: str
    layout: str
    text: str | None
    citations: tuple[NumberedCitation, ...]


@dataclass(frozen=True)
class Bundle:
    """A finished run with its evidence, and the checks made when the report was created."""

    run: ReportRun
    result: ResearchResult
    sources: tuple[SourceText, ...]
    members: tuple[ReportMember, ...]
    checks: tuple[Check, ...]
    made_on: date

    @property
    def question(self) -> str:
        return self.run.opening.request.question

    @property
    def verified(self) -> bool:
        return all(check.proved for check in self.checks)

    def cited(self) -> dict[int, Citation]:
        return dict(enumerate(self.result.citations, 1))


def source_texts(
    result: ResearchResult, run: ReportRun, members: Sequence[ReportMember], texts: Mapping[str, str]
) -> tuple[SourceText, ...]:
    """Group the citations by document, in order of first mention."""
    groups: dict[tuple[str, str], list[NumberedCitation]] = {}
    for number, citation in enumerate(result.citations, 1):
        key = (citation.locator.split("#")[0], citation.text_hash or f"citation {number}")
        groups.setdefault(key, []).append(NumberedCitation(number, citation))
    # A member's trace records when a document was fetched; the PI's, when the PI received it.
    lines = [*(entry for member in members for entry in member.run.entries), *run.entries]
    fetched = [entry for entry in lines if entry.action == "fetch" and "error" not in entry.fields]
    return tuple(
        _source(number, locator, group, fetched, texts)
        for number, ((locator, _), group) in enumerate(groups.items(), 1)
    )


def _source(
    number: int,
    locator: str,
    group: Sequence[NumberedCitation],
    fetched: Iterable[TraceEntry],
    texts: Mapping[str, str],
) -> SourceText:
    first = group[0].citation
    entry = next((each for each in fetched if _is_fetch_of(each.fields, locator, first)), None)
    fields: Json = entry.fields if entry else {}
    result = fields.get("result")
    metadata = result if isinstance(result, Mapping) else {}
    length = fields.get("content_length")
    return SourceText(
        number=number,
        kind=first.source,
        locator=locator,
        title=first.title or str(metadata.get("title") or ""),
        author=str(metadata.get("author") or ""),
        published=first.published,
        authority=first.authority or "",
        researchers=tuple(dict.fromkeys(each.citation.researcher for each in group if each.citation.researcher)),
        fetched=entry.timestamp if entry else "",
        content_hash=first.content_hash or "",
        content_length=length if isinstance(length, int) else 0,
        text_hash=first.text_hash or "",
        layout=str(metadata.get("layout") or "prose"),
        text=texts.get(first.text_hash or ""),
        citations=tuple(group),
    )


def _is_fetch_of(fields: Json, locator: str, citation: Citation) -> bool:
    same_text = citation.text_hash is not None and fields.get("text_hash") == citation.text_hash
    return same_text and fields.get("locator") == locator


def citations_found_by(bundle: Bundle, dispatch: Dispatch) -> list[int]:
    """Return the numbers of the citations from one dispatch. Without its run, return those of its researcher."""
    own = next((each.run for each in bundle.members if each.run.trace_id == dispatch.trace_id), None)
    numbered = [(number, each) for number, each in bundle.cited().items() if each.researcher == dispatch.researcher]
    if dispatch.trace_id is None or own is None:
        return [number for number, _ in numbered if dispatch.trace_id]
    texts = {entry.fields.get("text_hash") for entry in own.entries if entry.action == "fetch"}
    return [number for number, citation in numbered if citation.text_hash in texts]
