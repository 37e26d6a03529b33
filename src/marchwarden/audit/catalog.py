"""RunCatalog: list the stored runs. Reads only the first and last line of a trace, and caches them until it changes.

Does not prove anything: `audit.verify` checks whether a run is intact.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO, Final

from marchwarden.errors import UnknownTrace
from marchwarden.storage.store import Store
from marchwarden.storage.trace import Stamp

_BLOCK: Final = 1 << 16
_LONGEST_LINE: Final = 1 << 24

Fields = Mapping[str, object]


@dataclass(frozen=True)
class DispatchSummary:
    """A researcher that a PI asked, taken from the PI's result. Without a trace id, it returned no answer."""

    researcher: str
    question: str
    trace_id: str


@dataclass(frozen=True)
class RunSummary:
    """One run in a list. `words` is the text that searches match."""

    trace_id: str
    question: str = ""
    researcher: str = ""
    depth: str = ""
    mind: str = ""
    began: str = ""
    ended: str = ""
    finished: bool = False
    confidence: float = 0.0
    citations: int = 0
    tokens: int = 0
    seconds: float = 0.0
    errands: tuple[DispatchSummary, ...] = ()
    words: str = ""

    @property
    def key(self) -> str:
        """Runs with the same key answer the same question."""
        return " ".join(self.question.casefold().split())


class RunCatalog:
    """All runs of a store, latest first."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cache: dict[str, tuple[Stamp, RunSummary]] = {}

    def runs(self) -> list[RunSummary]:
        """Return every run whose trace contains at least the question."""
        found = [self._summary(trace_id, stamp) for trace_id, stamp in self._store.stamps().items()]
        with_question = [summary for summary in found if summary.question]
        return sorted(with_question, key=lambda summary: summary.began, reverse=True)

    def _summary(self, trace_id: str, stamp: Stamp) -> RunSummary:
        known = self._cache.get(trace_id)
        if known and known[0] == stamp:
            return known[1]
        try:
            with self._store.open(trace_id) as file:
                summary = summary_of(trace_id, *_first_and_last_line(file, stamp.size))
        except (OSError, UnknownTrace):
            summary = RunSummary(trace_id)
        self._cache[trace_id] = (stamp, summary)
        return summary


def member_run_ids(runs: Sequence[RunSummary]) -> set[str]:
    """Return the ids of runs that a PI started. A cancelled one is recognized by its question and start time."""
    ids = {dispatch.trace_id for run in runs for dispatch in run.errands if dispatch.trace_id}
    unanswered = {
        (dispatch.researcher, dispatch.question): run
        for run in runs
        for dispatch in run.errands
        if not dispatch.trace_id
    }
    for run in runs:
        parent = None if run.finished else unanswered.get((run.researcher, run.question))
        if parent and parent.began <= run.began <= parent.ended:
            ids.add(run.trace_id)
    return ids


def search_runs(runs: Iterable[RunSummary], words: str) -> list[RunSummary]:
    """Return the runs that contain every word: in the question, the answer or the citations."""
    wanted = words.casefold().split()
    return [run for run in runs if all(word in run.words for word in wanted)]


def same_question(runs: Iterable[RunSummary], run: RunSummary) -> list[RunSummary]:
    """Return the finished runs that answer the same question, including this one."""
    return [each for each in runs if each.finished and each.key == run.key]


def summary_of(trace_id: str, first: bytes, last: bytes) -> RunSummary:
    opening, ending = _parse_line(first), _parse_line(last)
    question, depth = "", ""
    match opening:
        case {"action": "start", "request": {"question": str(asked), **rest}}:
            question, depth = asked, str(rest.get("depth", "balanced"))
    summary = RunSummary(
        trace_id,
        question=question,
        depth=depth,
        researcher=str(opening.get("researcher", "")),
        mind=str(opening.get("model_id", "")),
        began=str(opening.get("timestamp", "")),
        ended=str(ending.get("timestamp", "")),
        words=f"{trace_id} {question}".casefold(),
    )
    return _with_result(summary, ending)


def _with_result(summary: RunSummary, ending: Fields) -> RunSummary:
    match ending:
        case {
            "action": "result",
            "result": {
                "answer": str(answer),
                "confidence": int() | float() as confidence,
                "citations": [*citations],
                "cost_metadata": {"tokens_used": int(tokens), "wall_time_sec": int() | float() as seconds},
                **rest,
            },
        }:
            cited = " ".join(_citation_words(each) for each in citations)
            return replace(
                summary,
                finished=True,
                confidence=float(confidence),
                citations=len(citations),
                tokens=tokens,
                seconds=float(seconds),
                errands=tuple(_parse_dispatches(rest.get("dispatches"))),
                words=f"{summary.words} {answer} {cited}".casefold(),
            )
    return summary


def _citation_words(citation: object) -> str:
    match citation:
        case {"locator": str(locator), **rest}:
            return f"{rest.get('title') or ''} {locator}"
    return ""


def _parse_dispatches(dispatches: object) -> Iterable[DispatchSummary]:
    for each in dispatches if isinstance(dispatches, list) else []:
        match each:
            case {"researcher": str(name), "question": str(question), **rest}:
                yield DispatchSummary(name, question, str(rest.get("trace_id") or ""))


def _parse_line(line: bytes) -> Fields:
    try:
        fields = json.loads(line)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def _first_and_last_line(file: BinaryIO, size: int) -> tuple[bytes, bytes]:
    """Return the first and the last complete line without reading the rest."""
    first = file.readline(_LONGEST_LINE)
    block = _BLOCK
    while True:
        start = max(size - block, 0)
        file.seek(start)
        *lines, _rest = file.read(size - start).split(b"\n")
        # A block that does not start at the beginning of the file may start within a line.
        complete = lines if start == 0 else lines[1:]
        if complete or start == 0:
            return first, complete[-1] if complete else b""
        block *= 4
