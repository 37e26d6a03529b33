"""Run a finished run again from its trace and archive only, without network, and compare the results."""

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
    """The result of a rerun, and the fields that differ from the recorded result."""

    result: ResearchResult
    differences: tuple[str, ...]


@dataclass(frozen=True)
class OfflineSource:
    """Replaces a run's source during a replay. Everything it returned is in the trace."""

    name: str
    settings: Mapping[str, object]

    async def ready(self, report: StatusCallback) -> None:
        """Do nothing."""

    def guide(self) -> str:
        return ""

    async def search(self, query: Query) -> Sequence[Hit]:
        raise ReplayDiverged(f"the trace contains no search for {query.text!r}")

    async def fetch(self, hit: Hit) -> Document:
        raise ReplayDiverged(f"the trace contains no fetch of {hit.locator!r}")

    def notices(self) -> Sequence[str]:
        return ()


@dataclass(frozen=True)
class OfflineMind:
    """Replaces a run's model during a replay. Its outputs are in the trace."""

    model_id: str
    conclusion_tokens: int

    async def plan(self, notebook: Notebook, left: Allowance) -> Thought[Plan]:
        raise ReplayDiverged(f"the trace contains no plan by {self.model_id} for {notebook.question!r}")

    async def read(self, notebook: Notebook, passages: Sequence[Passage], left: Allowance) -> Thought[Reading]:
        raise ReplayDiverged(f"the trace contains no reading of these {len(passages)} passages by {self.model_id}")

    async def conclude(self, notebook: Notebook, left: Allowance) -> Thought[Draft]:
        raise ReplayDiverged(f"the trace contains no conclusion by {self.model_id} for {notebook.question!r}")


Rebuild = Callable[[Store, RunHeader, Mind, Mind], RecordedResearcher]
"""Builds the researcher of an earlier run from its header, its mind and the fallback mind, without external access."""


def rebuild_offline(store: Store, opening: RunHeader, mind: Mind, extractive: Mind) -> RecordedResearcher:
    return Investigator(OfflineSource(opening.source, opening.settings), mind, store=store, fallback=extractive)


async def rerun(store: Store, trace_id: str, extractive: Mind, rebuild: Rebuild = rebuild_offline) -> Rerun:
    """Run it again. The extractive mind is executed again; a model's recorded outputs are reused."""
    recorded = store.reread(trace_id)
    before, opening = recorded.result, recorded.header
    if before is None:
        raise MalformedTrace(f"trace {trace_id} is incomplete; finish it with `marchwarden resume {trace_id}`")
    rethink = opening.model_id == extractive.model_id
    mind = extractive if rethink else OfflineMind(opening.model_id, opening.conclusion_tokens)
    try:
        with closed_sockets():
            after = await rebuild(store, opening, mind, extractive).rerun(trace_id, rethink=rethink)
    except ExceptionGroup as group:
        raise _divergence(group) from group
    return Rerun(after, differences(before, after))


def _divergence(group: ExceptionGroup) -> Exception:
    """Unwrap the exception group of concurrent searches. The first divergence is enough to report."""
    diverged, others = group.split(ReplayDiverged)
    if diverged is None or others is not None:
        return group
    first: BaseException = diverged
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    assert isinstance(first, ReplayDiverged)
    return first


def differences(one: ResearchResult, other: ResearchResult) -> tuple[str, ...]:
    """Return the fields that differ, ignoring times."""
    left, right = _comparable(one, exclude_unset=True), _comparable(other)
    return tuple(name for name, value in left.items() if value != _limited_to(value, right[name]))


def _comparable(result: ResearchResult, *, exclude_unset: bool = False) -> dict[str, object]:
    excluded = {"cost_metadata": {"wall_time_sec", "indexing_sec"}}
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
    """Block network access in this context, with an audit hook of the interpreter."""
    _watch_sockets()
    token = _SOCKETS_CLOSED.set(True)
    try:
        yield
    finally:
        _SOCKETS_CLOSED.reset(token)


@cache
def _watch_sockets() -> None:
    """Install the audit hook once. Hooks cannot be removed, so it checks a context variable."""
    sys.addaudithook(_refuse_when_closed)


def _refuse_when_closed(event: str, _arguments: tuple[object, ...]) -> None:
    if event in _NETWORK_EVENTS and _SOCKETS_CLOSED.get():
        raise ReplayDiverged(f"the rerun tried to access the network ({event})")
