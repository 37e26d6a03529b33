"""Prove every citation of a run again from its trace and archive, without a model or network."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from marchwarden.contract import CUT, Citation, ResearchResult
from marchwarden.errors import ArchiveDamaged, MalformedTrace
from marchwarden.evidence.markers import marker_numbers
from marchwarden.storage.archive import Archive
from marchwarden.storage.store import Store

_BODY_FIELDS: Final = ("content_hash", "text_hash", "blocks_hash", "exchange", "result_hash")

Line = Mapping[str, object]


@dataclass(frozen=True)
class Check:
    """One check and its outcome."""

    subject: str
    proved: bool
    detail: str


def verify(store: Store, trace_id: str) -> list[Check]:
    """Check the hash chain of the trace, every archived body it refers to, and every citation of its result.

    Lines after a damaged one are still read, so that the damage is reported where it is.
    """
    chain = store.chain(trace_id)
    lines = [*_parse_lines(store.content(trace_id))]
    if not lines:
        raise MalformedTrace(f"trace {trace_id} has no readable line")
    checks = [_check_chain(chain.damage, torn=chain.torn, lines=lines)]
    checks += [*_check_bodies(lines, store.archive)]
    result = _find_result(lines)
    if result is None:
        return [*checks, Check("result", proved=False, detail="the trace contains no readable result")]
    if result.trace_id != trace_id:
        checks.append(Check("result", proved=False, detail=f"it belongs to trace {result.trace_id}"))
    checks += [_check_citation(number, each, lines, store.archive) for number, each in enumerate(result.citations, 1)]
    return [*checks, _check_markers(result)]


def _parse_lines(content: bytes) -> Iterator[Line]:
    for line in content.split(b"\n"):
        try:
            parsed = json.loads(line)
        except ValueError:
            continue
        if isinstance(parsed, dict) and "action" in parsed:
            yield parsed


def _check_chain(damage: str, *, torn: bool, lines: Sequence[Line]) -> Check:
    if damage:
        return Check("trace", proved=False, detail=damage)
    if torn:
        return Check("trace", proved=False, detail="the last line is incomplete; repair it with `marchwarden resume`")
    if lines[0]["action"] != "start" or lines[-1]["action"] != "result":
        return Check("trace", proved=False, detail="incomplete: the start or the result is missing")
    return Check("trace", proved=True, detail=f"{len(lines)} lines, hash chain intact")


def _check_bodies(lines: Sequence[Line], archive: Archive) -> Iterator[Check]:
    """Yield one check for all intact bodies, and one for each damaged body."""
    names = dict.fromkeys(str(line[name]) for line in lines for name in _BODY_FIELDS if line.get(name))
    intact = 0
    for name in names:
        try:
            archive.load(name)
        except ArchiveDamaged as error:
            yield Check("archive", proved=False, detail=str(error))
        else:
            intact += 1
    yield Check("archive", proved=True, detail=f"{intact} of {len(names)} archived bodies match their hash")


def _find_result(lines: Sequence[Line]) -> ResearchResult | None:
    for line in reversed(lines):
        if line["action"] == "result":
            try:
                return ResearchResult.model_validate(line.get("result"))
            except ValidationError:
                return None
    return None


def _check_citation(number: int, citation: Citation, lines: Sequence[Line], archive: Archive) -> Check:
    subject = f"[{number}] {citation.locator}"
    fault = _find_fault(citation, lines, archive)
    if fault:
        return Check(subject, proved=False, detail=fault)
    return Check(
        subject, proved=True, detail=f"verbatim at {citation.start}-{citation.end} of {str(citation.text_hash)[:19]}"
    )


def _find_fault(citation: Citation, lines: Sequence[Line], archive: Archive) -> str:
    """Return why a citation is invalid, or an empty string."""
    if citation.text_hash is None or citation.start is None or citation.end is None:
        return "the citation has no text hash or offsets"
    fetched = [line for line in lines if line["action"] == "fetch" and line.get("text_hash") == citation.text_hash]
    if not any(
        line.get("content_hash") == citation.content_hash and _is_within(citation.locator, str(line.get("locator")))
        for line in fetched
    ):
        return "this run did not fetch this document"
    try:
        text = archive.load(citation.text_hash).decode()
    except ArchiveDamaged as error:
        return str(error)
    excerpt = text[citation.start : citation.end]
    if citation.raw_excerpt not in (excerpt, f"{excerpt} {CUT}"):
        return f"the archived text at {citation.start}-{citation.end} differs from the excerpt"
    return ""


def _is_within(place: str, locator: str) -> bool:
    """Tell whether a place is this document or part of it. A file name may contain a `#`, so splitting is not safe."""
    return place == locator or place.startswith(f"{locator}#")


def _check_markers(result: ResearchResult) -> Check:
    used = set(marker_numbers(result.answer))
    dangling = sorted(used - set(range(1, len(result.citations) + 1)))
    if dangling:
        return Check("answer", proved=False, detail=f"markers without a citation: {dangling}")
    return Check("answer", proved=True, detail=f"{len(used)} markers, each with a citation")
