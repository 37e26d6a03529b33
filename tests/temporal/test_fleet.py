"""The same researchers and the same PI behind the engine: the same answers, each run once, and runs to look after."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import uuid4

import anyio
import pytest

from marchwarden.audit.replay import differences
from marchwarden.audit.verify import verify
from marchwarden.contract import ResearchConstraints, ResearchRequest, ResearchResult
from marchwarden.core.notebook import Document, Hit
from marchwarden.errors import InvalidInput
from marchwarden.storage.store import Store
from tests.investigating import QUESTION, an_investigator
from tests.orchestrator.researchers import Reply, a_pi, holds, scripted
from tests.world.memory import BRIDGE, COOKING, FERRIS, MemorySource

pytest.importorskip("temporalio", reason="the client of Temporal is not installed: pip install 'marchwarden[temporal]'")

from marchwarden.temporal.connection import RunFailed
from marchwarden.temporal.runs import cancel, retry, run, runs
from tests.temporal.crew import Crew

REQUEST = ResearchRequest(question=QUESTION)


def shelves() -> Mapping[str, MemorySource]:
    return {"bridges": MemorySource((BRIDGE, COOKING)), "people": MemorySource((FERRIS,))}


@dataclass
class Slow(MemorySource):
    """Fetches nothing while it sleeps."""

    sleeps: bool = True
    began: anyio.Event = field(default_factory=anyio.Event)

    async def fetch(self, hit: Hit) -> Document:
        self.began.set()
        if self.sleeps:
            await anyio.sleep_forever()
        return await super().fetch(hit)


def alike(one: ResearchResult, other: ResearchResult) -> set[str]:
    """What differs beside the ids of the runs."""
    return {*differences(one, other)} - {"trace_id", "dispatches"}


async def test_a_researcher_answers_through_the_engine_as_it_does_here(tmp_path, server):
    here = await an_investigator(tmp_path / "here").research(QUESTION)
    trace_id = str(uuid4())
    source = MemorySource()
    async with Crew(tmp_path / "fleet", {"library": source}).at_work(server) as fleet:
        there = await fleet.run_request(REQUEST, trace_id)
        asked = len(source.calls)
        again = await fleet.run_request(REQUEST, trace_id)
    assert alike(here, there) == set()
    assert there.trace_id == trace_id
    assert again == there
    assert len(source.calls) == asked, "asking again under the same id finds the run there is"
    assert all(check.proved for check in verify(Store(tmp_path / "fleet"), trace_id))


async def test_a_pi_answers_through_the_engine_as_it_does_here(tmp_path, server):
    team = {name: an_investigator(tmp_path / "here", source=each) for name, each in shelves().items()}
    here = await a_pi(tmp_path / "here", team).research(QUESTION)
    async with Crew(tmp_path / "fleet", shelves()).at_work(server) as fleet:
        there = await fleet.research(QUESTION)
    assert alike(here, there) == set()
    assert [each.researcher for each in there.dispatches] == [each.researcher for each in here.dispatches]
    assert all(each.trace_id for each in there.dispatches)
    assert await holds(tmp_path / "fleet", there)


async def test_a_stranger_that_dies_is_a_gap_in_the_fleet_too(tmp_path, server):
    dead = scripted(Reply(error=InvalidInput("not for me"), steps=()))
    async with Crew(tmp_path, shelves(), {"dead": dead}).at_work(server) as fleet:
        found = await fleet.research(QUESTION, constraints=ResearchConstraints(max_iterations=1))
    (told,) = [each for each in found.dispatches if each.researcher == "dead"]
    assert "not for me" in told.outcome
    assert found.citations


async def test_a_run_can_be_listed_cancelled_and_taken_up_again(tmp_path, server):
    source = Slow()
    trace_id = str(uuid4())
    failed: list[str] = []

    async def ask() -> None:
        try:
            await fleet.run_request(REQUEST, trace_id)
        except RunFailed as error:
            failed.append(str(error))

    async with Crew(tmp_path, {"library": source}).at_work(server) as fleet:
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await source.began.wait()
            (found,) = [each async for each in runs(fleet.client, "running") if each.trace_id == trace_id]
            assert (found.state, found.question) == ("running", QUESTION)
            await cancel(fleet.client, trace_id)
        assert "runs retry" in failed[0]
        assert (await run(fleet.client, trace_id)).state == "canceled"
        searched = [call for call in source.calls if call.startswith("search")]
        source.sleeps = False
        await retry(fleet.client, trace_id)
        result = await fleet.run_request(REQUEST, trace_id)
        assert result.citations
        again = [call for call in source.calls if call.startswith("search")]
        assert again[: len(searched)] == searched
        assert len(set(again)) == len(again)
        with pytest.raises(InvalidInput, match="nothing to retry"):
            await retry(fleet.client, trace_id)
        with pytest.raises(InvalidInput, match="nothing to cancel"):
            await cancel(fleet.client, trace_id)
        with pytest.raises(InvalidInput, match="no run"):
            await cancel(fleet.client, str(uuid4()))
