"""Fetch the documents that a run cited again, and tell which statements are still supported.

Knows sources only by their protocol; the caller chooses them. Changes neither the trace nor the archive.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final, Literal

import anyio

from marchwarden.contract import CUT, MAX_EXCERPT, Citation, GapCategory
from marchwarden.core.notebook import Document, Hit
from marchwarden.errors import MalformedTrace, MarchwardenError, SourceError
from marchwarden.evidence.markers import MARKER
from marchwarden.protocols import Source
from marchwarden.storage.record import RunRecord
from marchwarden.text.sanitize import one_line

SourceOf = Callable[[Citation], Source]
"""Returns the source that can fetch a cited document. Raises a `MarchwardenError` with the reason if there is none."""

_DOI: Final = "https://doi.org/"
_DOI_HOSTS: Final = frozenset({"doi.org", "dx.doi.org", "www.doi.org"})
_WEB_HOST: Final = re.compile(r"https?://([^/?#:]*)", re.IGNORECASE)


class SourceStatus(StrEnum):
    """The current state of a cited document. Only the first three still support its citations."""

    ALIVE = "alive"
    MOVED = "moved"
    CHANGED = "changed"
    LOST = "lost"
    GONE = "gone"
    UNREACHABLE = "unreachable"
    UNKNOWN = "unknown here"


INTACT: Final = frozenset({SourceStatus.ALIVE, SourceStatus.MOVED, SourceStatus.CHANGED})
UNCHECKED: Final = frozenset({SourceStatus.UNREACHABLE, SourceStatus.UNKNOWN})


@dataclass(frozen=True)
class RecheckLimits:
    """How many documents to fetch concurrently, and the time limits per document and in total."""

    at_once: int = 4
    each_seconds: float = 45.0
    all_seconds: float = 300.0


@dataclass(frozen=True)
class SourceCheck:
    """The result for one cited document. `lost` are the citations whose excerpt is no longer in it."""

    locator: str
    citations: tuple[int, ...]
    standing: SourceStatus
    detail: str
    lost: tuple[int, ...] = ()

    @property
    def is_intact(self) -> bool:
        return self.standing in INTACT


@dataclass(frozen=True)
class StatementStatus:
    """One statement of an answer, and which of its citations are lost or could not be checked."""

    text: str
    citations: tuple[int, ...]
    lost: tuple[int, ...] = ()
    unchecked: tuple[int, ...] = ()

    @property
    def support(self) -> Literal["stands", "unchecked", "weakened", "lost"]:
        if self.lost:
            return "lost" if set(self.lost) >= set(self.citations) else "weakened"
        return "unchecked" if self.unchecked else "stands"

    def to_json(self) -> Mapping[str, object]:
        return {**asdict(self), "support": self.support}


async def recheck_sources(
    record: RunRecord, source_of: SourceOf, limits: RecheckLimits | None = None
) -> tuple[SourceCheck, ...]:
    """Fetch every document cited by a run's result once, and compare it with what was cited."""
    limits = limits or RecheckLimits()
    cited = _documents(record)
    not_checked = f"not checked: the time limit of {limits.all_seconds:g} s for all documents was reached"
    checks = [each.check(SourceStatus.UNREACHABLE, not_checked) for each in cited]
    slots = anyio.Semaphore(limits.at_once)

    async def recheck(at: int) -> None:
        async with slots:
            checks[at] = await _recheck_one(cited[at], source_of, limits.each_seconds)

    with anyio.move_on_after(limits.all_seconds):
        async with anyio.create_task_group() as group:
            for at in range(len(cited)):
                group.start_soon(recheck, at)
    return tuple(checks)


def statement_statuses(answer: str, checks: Iterable[SourceCheck]) -> tuple[StatementStatus, ...]:
    """Split an answer into its statements and tell how far each is still supported."""
    lost: set[int] = set()
    unchecked: set[int] = set()
    for check in checks:
        lost.update(check.lost)
        unchecked.update(check.citations if check.standing in UNCHECKED else ())
    found = []
    for text in answer.split("\n\n"):
        numbers = tuple(dict.fromkeys(int(number) for number in MARKER.findall(text)))
        if numbers:
            affected = [tuple(number for number in numbers if number in which) for which in (lost, unchecked)]
            found.append(StatementStatus(text, numbers, *affected))
    return tuple(found)


@dataclass(frozen=True)
class _CitedDocument:
    """A document as the run fetched it, and its numbered citations."""

    place: str
    citations: tuple[tuple[int, Citation], ...]
    media_type: str
    is_reported: bool
    """Whether only the excerpt is known, because an external researcher reported it without the document."""

    @property
    def first(self) -> Citation:
        return self.citations[0][1]

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(number for number, _ in self.citations)

    def check(self, standing: SourceStatus, detail: str, lost: Sequence[int] = ()) -> SourceCheck:
        return SourceCheck(self.place, self.numbers, standing, one_line(detail), tuple(lost))


def _documents(record: RunRecord) -> tuple[_CitedDocument, ...]:
    """Return the documents cited by a run's result without duplicates, in the order of their first citation."""
    result, trace_id = record.result, record.trace_id
    if result is None:
        raise MalformedTrace(f"trace {trace_id} is incomplete; finish it with `marchwarden resume {trace_id}`")
    fetched = record.fetched()
    by_document: dict[tuple[str, str], list[tuple[int, Citation]]] = {}
    for number, citation in enumerate(result.citations, 1):
        name = citation.text_hash or ""
        by_document.setdefault((_place(citation, fetched.get(name, {})), name), []).append((number, citation))
    return tuple(
        _CitedDocument(place, tuple(cited), *_media_type_and_reported(fetched.get(name, {})))
        for (place, name), cited in by_document.items()
    )


def _place(citation: Citation, fetched: Mapping[str, object]) -> str:
    """Return the locator of the whole document. A path may contain a `#`, so the trace takes precedence."""
    locator = fetched.get("locator")
    if isinstance(locator, str) and "://" not in locator and citation.locator.startswith(locator):
        return locator
    return citation.locator.partition("#")[0]


def _media_type_and_reported(fetched: Mapping[str, object]) -> tuple[str, bool]:
    """Return a document's media type, and whether it consists only of a reported excerpt."""
    match fetched:
        case {"content_hash": content, "text_hash": text, "content_length": int(length), "result": {**described}}:
            located = described.get("lines") or described.get("marks")
            return str(described.get("media_type")), content == text and not located and length <= 4 * MAX_EXCERPT
    return "", False


async def _recheck_one(cited: _CitedDocument, source_of: SourceOf, seconds: float) -> SourceCheck:
    try:
        source = source_of(cited.first)
    except SourceError as error:
        return _check_of_failed_fetch(cited, error)
    except MarchwardenError as error:
        return cited.check(SourceStatus.UNKNOWN, str(error))
    earlier = set(source.notices())
    try:
        with anyio.fail_after(seconds):
            found = await source.fetch(Hit(_fetchable_url(cited.place)))
    except SourceError as error:
        return _check_of_failed_fetch(cited, error)
    except TimeoutError:
        return cited.check(SourceStatus.UNREACHABLE, f"no answer within {seconds:g} s")
    return _compare(cited, found, [notice for notice in source.notices() if notice not in earlier])


def _check_of_failed_fetch(cited: _CitedDocument, error: SourceError) -> SourceCheck:
    if error.category is GapCategory.SOURCE_NOT_FOUND:
        return cited.check(SourceStatus.GONE, error.detail, cited.numbers)
    return cited.check(SourceStatus.UNREACHABLE, error.detail)


def _compare(cited: _CitedDocument, found: Document, new_notices: Sequence[str]) -> SourceCheck:
    moved = f"now at {found.locator}" if _has_moved(cited.place, found.locator) else ""
    if cited.first.content_hash == found.content_hash or cited.first.text_hash == found.text_hash:
        return cited.check(SourceStatus.MOVED, moved) if moved else cited.check(SourceStatus.ALIVE, "unchanged")
    text = _collapse_whitespace(found.text)
    lost = [number for number, citation in cited.citations if not _still_contains(citation, text)]
    if lost and new_notices and found.media_type != cited.media_type:
        # Less was fetched than the run read, for example only an abstract: missing words prove nothing.
        return cited.check(SourceStatus.UNREACHABLE, new_notices[-1])
    if lost:
        missing = "".join(f"[{number}]" for number in lost)
        return cited.check(SourceStatus.LOST, _join(moved, f"the text cited as {missing} is no longer there"), lost)
    if cited.is_reported:
        return cited.check(SourceStatus.MOVED if moved else SourceStatus.ALIVE, moved or "the cited text is there")
    return cited.check(
        SourceStatus.MOVED if moved else SourceStatus.CHANGED,
        _join(moved, "the text has changed, but still contains the cited text"),
    )


def _join(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _fetchable_url(place: str) -> str:
    """Turn a DOI into its URL. Other locators are fetchable already."""
    return f"{_DOI}{place[4:].strip()}" if place[:4].casefold() == "doi:" else place


def _has_moved(place: str, now: str) -> bool:
    """Only web addresses can move. A DOI is expected to redirect."""
    match = _WEB_HOST.match(place)
    return match is not None and match[1].casefold() not in _DOI_HOSTS and place != now


def _excerpt_words(citation: Citation) -> str:
    return citation.raw_excerpt.removesuffix(CUT).rstrip()


def _collapse_whitespace(text: str) -> str:
    return " ".join(text.split())


def _still_contains(citation: Citation, text: str) -> bool:
    """Tell whether the cited words are in the text as complete words: `is 5` does not match `is 57`."""
    words = _collapse_whitespace(_excerpt_words(citation))
    cut = citation.raw_excerpt.endswith(CUT)
    return any(
        not _continues_word(text[max(at - 1, 0) : at], words[:1])
        and (cut or not _continues_word(words[-1:], text[at + len(words) : at + len(words) + 2]))
        for at in _occurrences(words, text)
    )


def _occurrences(words: str, text: str) -> Iterator[int]:
    at = text.find(words)
    while at >= 0:
        yield at
        at = text.find(words, at + 1)


def _continues_word(before: str, after: str) -> bool:
    """Tell whether a word or number continues across this boundary: `5|7`, `5|.7`."""
    if not before or not after or not before.isalnum():
        return False
    return after[0].isalnum() or (before.isdigit() and after[0] in ".,:" and after[1:].isdigit())
