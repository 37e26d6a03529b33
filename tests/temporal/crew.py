"""A worker in this process over memory sources: the engine is real, the researchers are small."""

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
from tests.temporal.engine import Server
from tests.world.memory import MemorySource


@dataclass
class Crew:
    """Everybody a worker can build, by kind."""

    folder: Path
    sources: Mapping[str, MemorySource]
    extra: Mapping[str, Researcher] = field(default_factory=dict)

    def build(self, member: FleetMember, mind: Mind) -> Researcher:
        if member.kind in self.extra:
            return self.extra[member.kind]
        return an_investigator(self.folder, source=self.sources[member.kind])

    def think(self, spec: str | None, trace_id: str) -> Mind:
        return ExtractiveMind()

    def members(self) -> list[FleetMember]:
        return [FleetMember(name, name, f"the shelf {name}") for name in (*self.sources, *self.extra)]

    @asynccontextmanager
    async def at_work(self, server: Server) -> AsyncIterator[TemporalResearcher]:
        client = await TemporalConnection.from_environ(server.address, {}).connect()
        duties = Activities(self.build, self.think, ExtractiveMind(), Store(self.folder))
        service = TemporalWorker([PI, *self.sources, *self.extra], duties)
        stop = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(service.serve, client, stop.wait)
            try:
                yield TemporalResearcher(client, self.members())
            finally:
                stop.set()


async def client_of(server: Server) -> Client:
    return await TemporalConnection.from_environ(server.address, {}).connect()
