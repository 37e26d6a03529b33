"""Run: one question on its way to an outcome, and everybody who listens. Knows neither researcher nor ledger."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from marchwarden.contract import ResearchRequest
from marchwarden.mcp.call_store import StoredRun
from marchwarden.mcp.clients import ServiceClient
from marchwarden.mcp.outcome import CallOutcome
from marchwarden.protocols import Progress

MOST_WAITING: Final = 100
"""Signs of life kept for one who listens slowly; further ones are lost to it."""


@dataclass(eq=False)
class SharedRun:
    """`known` is the earlier run it stands for or goes on with, `entry` its place in the ledger.

    `wanted` counts who has not given it up. Of the `tokens` it took so far, `booked` ones are paid for.
    """

    key: str
    caller: ServiceClient
    request: ResearchRequest
    trace_id: str = ""
    entry: int | None = None
    known: StoredRun | None = None
    wanted: int = 0
    booked: int = 0
    tokens: int = 0
    latest: Progress | None = None
    outcome: CallOutcome | None = None
    accepted: anyio.Event = field(default_factory=anyio.Event)
    over: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    listeners: set[MemoryObjectSendStream[Progress]] = field(default_factory=set)

    @contextmanager
    def listening(self) -> Iterator[MemoryObjectReceiveStream[Progress]]:
        """Its signs of life from the latest on, until it is over."""
        sent, heard = anyio.create_memory_object_stream[Progress](MOST_WAITING)
        with sent, heard:
            if self.latest is not None:
                sent.send_nowait(self.latest)
            self.listeners.add(sent)
            if self.over.is_set():
                sent.close()
            try:
                yield heard
            finally:
                self.listeners.discard(sent)

    @property
    def is_recalled(self) -> bool:
        """Whether it only tells again what an earlier run found."""
        return self.known is not None and self.known.outcome is not None

    def follow(self, known: StoredRun) -> None:
        self.known, self.entry, self.trace_id, self.booked = known, known.id, known.trace_id, known.booked

    def tell(self, progress: Progress) -> None:
        self.latest = progress
        self.tokens = max(self.tokens, progress.tokens_used)
        for sent in self.listeners:
            try:
                sent.send_nowait(progress)
            except anyio.WouldBlock:
                continue  # it reads too slowly: a sign of life may be lost, an outcome may not

    def end(self, outcome: CallOutcome) -> None:
        self.outcome = outcome
        self.accepted.set()
        self.over.set()
        for sent in self.listeners:
            sent.close()
