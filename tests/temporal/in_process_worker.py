"""A worker in this process with in-memory sources, on a real Temporal server."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from temporalio.client import Client

from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.protocols import Mind, Researcher
from marchwarden.storage.store import Store
from marchwarden.temporal.activities import Activities
from marchwarden.temporal.connection import TemporalConnection
from marchwarden.temporal.messages import PI, FleetMember
from marchwarden.temporal.researcher import TemporalResearcher
from marchwarden.temporal.worker import TemporalWorker
from tests.investigating import an_investigator
from tests.temporal.temporal_server import TemporalServer
from tests.world.memory import MemorySource


@dataclass
class InProcessWorker:
    """Researchers by kind, and the worker that runs them."""

    folder: Path
    sources: Mapping[str, MemorySource]
    others: Mapping[str, Researcher] = field(default_factory=dict)

    def build(self, member: FleetMember, mind: Mind) -> Researcher:
        if member.kind in self.others:
            return self.others[member.kind]
        return an_investigator(self.folder, source=self.sources[member.kind])

    def select_mind(self, spec: str | None, trace_id: str) -> Mind:
        return ExtractiveMind()

    def members(self) -> list[FleetMember]:
        return [FleetMember(name, name, f"the source {name}") for name in (*self.sources, *self.others)]

    @asynccontextmanager
    async def running(self, server: TemporalServer) -> AsyncIterator[TemporalResearcher]:
        client = await TemporalConnection.from_environ(server.address, {}).connect()
        activities = Activities(self.build, self.select_mind, ExtractiveMind(), Store(self.folder))
        worker = TemporalWorker([PI, *self.sources, *self.others], activities)
        stop = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(worker.serve, client, stop.wait)
            try:
                yield TemporalResearcher(client, self.members())
            finally:
                stop.set()


async def connect(server: TemporalServer) -> Client:
    return await TemporalConnection.from_environ(server.address, {}).connect()
