"""Replay: a finished run walked again from its trace and archive alone, sockets closed, and compared with itself."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Final

from marchwarden.contract import ResearchResult
from marchwarden.core.budget import Allowance
from marchwarden.core.notebook import Document, Draft, Hit, Notebook, Plan, Query, Reading, Thought
from marchwarden.core.passages import Passage
from marchwarden.errors import MalformedTrace, ReplayDiverged
from marchwarden.loop.investigator import Investigator
from marchwarden.loop.recorded import RecordedResearcher
from marchwarden.protocols import Mind, StatusCallback
from marchwarden.storage.record import RunHeader
from marchwarden.storage.store import Store

_NETWORK_EVENTS: Final = frozenset({"socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.bind"})
_SOCKETS_CLOSED: Final[ContextVar[bool]] = ContextVar("closed_sockets", default=False)


@dataclass(frozen=True)
class Rerun:
    """What a rerun gave, and the fields in which it differs from what the trace says."""

    result: ResearchResult
    differences: tuple[str, ...]


@dataclass(frozen=True)
class OfflineSource:
    """Stands where a run's source stood. Everything it knew is in the trace, or nowhere."""

    name: str
    settings: Mapping[str, object]

    async def ready(self, tell: StatusCallback) -> None:
        """There is nothing to prepare."""

    def guide(self) -> str:
        return ""

    async def search(self, query: Query) -> Sequence[Hit]:
        raise ReplayDiverged(f"the trace holds no search for {query.text!r}")

    async def fetch(self, hit: Hit) -> Document:
        raise ReplayDiverged(f"the trace holds no fetch of {hit.locator!r}")

    def notices(self) -> Sequence[str]:
        return ()


@dataclass(frozen=True)
class OfflineMind:
    """Stands where a run's model stood: its thoughts are in the trace, and it has no others."""

    model_id: str
    conclusion_tokens: int

    async def plan(self, notebook: Notebook, left: Allowance) -> Thought[Plan]:
        raise ReplayDiverged(f"the trace holds no plan of {self.model_id} for {notebook.question!r}")

    async def read(self, notebook: Notebook, passages: Sequence[Passage], left: Allowance) -> Thought[Reading]:
        raise ReplayDiverged(f"the trace holds no such reading of {len(passages)} passages by {self.model_id}")

    async def conclude(self, notebook: Notebook, left: Allowance) -> Thought[Draft]:
        raise ReplayDiverged(f"the trace holds no conclusion of {self.model_id} for {notebook.question!r}")


Rebuild = Callable[[Store, RunHeader, Mind, Mind], RecordedResearcher]
"""Makes the researcher of an earlier run out of its opening, the mind it had and the fallback, with nothing outside."""


def rebuild_offline(store: Store, opening: RunHeader, mind: Mind, extractive: Mind) -> RecordedResearcher:
    return Investigator(OfflineSource(opening.source, opening.settings), mind, store=store, fallback=extractive)


async def rerun(store: Store, trace_id: str, extractive: Mind, rebuild: Rebuild = rebuild_offline) -> Rerun:
    """Run it again. The extractive mind thinks rethink; a model is taken at its recorded word."""
    recorded = store.reread(trace_id)
    before, opening = recorded.result, recorded.opening
    if before is None:
        raise MalformedTrace(f"trace {trace_id} is incomplete; `marchwarden resume {trace_id}` finishes it")
    rethink = opening.model_id == extractive.model_id
    mind = extractive if rethink else OfflineMind(opening.model_id, opening.conclusion_tokens)
    try:
        with closed_sockets():
            after = await rebuild(store, opening, mind, extractive).rerun(trace_id, rethink=rethink)
    except ExceptionGroup as group:
        raise _divergence(group) from group
    return Rerun(after, differences(before, after))


def _divergence(group: ExceptionGroup) -> Exception:
    """Searches are made side by side, so what the trace does not hold comes in a group: one of it is enough to say."""
    diverged, others = group.split(ReplayDiverged)
    if diverged is None or others is not None:
        return group
    first: BaseException = diverged
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    assert isinstance(first, ReplayDiverged)
    return first


def differences(one: ResearchResult, other: ResearchResult) -> tuple[str, ...]:
    """The fields that are not the same in both, wall time aside."""
    left, right = _comparable(one, exclude_unset=True), _comparable(other)
    return tuple(name for name, value in left.items() if value != _limited_to(value, right[name]))


def _comparable(result: ResearchResult, *, exclude_unset: bool = False) -> dict[str, object]:
    excluded = {"cost_metadata": {"wall_time_sec"}}
    return result.model_dump(mode="json", exclude=excluded, exclude_unset=exclude_unset)


def _limited_to(fields: object, value: object) -> object:
    """Drop fields that the recorded value does not have, because they were added to the contract later."""
    match fields, value:
        case dict(), dict():
            return {name: _limited_to(fields[name], each) for name, each in value.items() if name in fields}
        case list(), list() if len(fields) == len(value):
            return [_limited_to(field, each) for field, each in zip(fields, value, strict=True)]
    return value


@contextmanager
def closed_sockets() -> Iterator[None]:
    """While this is open, nothing in this context can reach out: the interpreter itself refuses."""
    _watch_sockets()
    token = _SOCKETS_CLOSED.set(True)
    try:
        yield
    finally:
        _SOCKETS_CLOSED.reset(token)


@cache
def _watch_sockets() -> None:
    """Audit hooks cannot be taken off again, so there is at most one, and it looks at the context."""
    sys.addaudithook(_refuse_when_closed)


def _refuse_when_closed(event: str, _arguments: tuple[object, ...]) -> None:
    if event in _NETWORK_EVENTS and _SOCKETS_CLOSED.get():
        raise ReplayDiverged(f"a rerun tried to reach outside ({event})")
