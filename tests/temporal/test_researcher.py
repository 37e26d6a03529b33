"""Researchers on Temporal answer as in this process. Their runs can be listed, cancelled and retried."""

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

pytest.importorskip("temporalio", reason="the Temporal client is not installed: pip install 'marchwarden[temporal]'")

from marchwarden.temporal.connection import RunFailed
from marchwarden.temporal.runs import cancel, retry, run, runs
from tests.temporal.in_process_worker import InProcessWorker

pytestmark = pytest.mark.slow

REQUEST = ResearchRequest(question=QUESTION)


def sources() -> Mapping[str, MemorySource]:
    return {"bridges": MemorySource((BRIDGE, COOKING)), "people": MemorySource((FERRIS,))}


@dataclass
class HangingSource(MemorySource):
    """Its fetches hang while `hangs` is set."""

    hangs: bool = True
    began: anyio.Event = field(default_factory=anyio.Event)

    async def fetch(self, hit: Hit) -> Document:
        self.began.set()
        if self.hangs:
            await anyio.sleep_forever()
        return await super().fetch(hit)


def different_fields(one: ResearchResult, other: ResearchResult) -> set[str]:
    """Return the fields that differ, without those that hold run ids."""
    return {*differences(one, other)} - {"trace_id", "dispatches"}


async def test_a_researcher_on_temporal_gives_the_same_answer_as_in_process(tmp_path, server):
    local = await an_investigator(tmp_path / "here").research(QUESTION)
    trace_id = str(uuid4())
    source = MemorySource()
    async with InProcessWorker(tmp_path / "fleet", {"library": source}).running(server) as fleet:
        remote = await fleet.run_request(REQUEST, trace_id)
        calls = len(source.calls)
        again = await fleet.run_request(REQUEST, trace_id)
    assert different_fields(local, remote) == set()
    assert remote.trace_id == trace_id
    assert again == remote
    assert len(source.calls) == calls, "the same trace id must return the existing run"
    assert all(check.proved for check in verify(Store(tmp_path / "fleet"), trace_id))


async def test_a_pi_on_temporal_gives_the_same_answer_as_in_process(tmp_path, server):
    team = {name: an_investigator(tmp_path / "here", source=each) for name, each in sources().items()}
    local = await a_pi(tmp_path / "here", team).research(QUESTION)
    async with InProcessWorker(tmp_path / "fleet", sources()).running(server) as fleet:
        remote = await fleet.research(QUESTION)
    assert different_fields(local, remote) == set()
    assert [each.researcher for each in remote.dispatches] == [each.researcher for each in local.dispatches]
    assert all(each.trace_id for each in remote.dispatches)
    assert await holds(tmp_path / "fleet", remote)


async def test_a_failing_third_party_researcher_is_recorded_and_the_others_answer(tmp_path, server):
    failing = scripted(Reply(error=InvalidInput("not for me"), steps=()))
    async with InProcessWorker(tmp_path, sources(), {"failing": failing}).running(server) as fleet:
        found = await fleet.research(QUESTION, constraints=ResearchConstraints(max_iterations=1))
    (dispatch,) = [each for each in found.dispatches if each.researcher == "failing"]
    assert "not for me" in dispatch.outcome
    assert found.citations


async def test_a_run_can_be_listed_cancelled_and_retried(tmp_path, server):
    source = HangingSource()
    trace_id = str(uuid4())
    failed: list[str] = []

    async def ask() -> None:
        try:
            await fleet.run_request(REQUEST, trace_id)
        except RunFailed as error:
            failed.append(str(error))

    async with InProcessWorker(tmp_path, {"library": source}).running(server) as fleet:
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await source.began.wait()
            (found,) = [each async for each in runs(fleet.client, "running") if each.trace_id == trace_id]
            assert (found.state, found.question) == ("running", QUESTION)
            await cancel(fleet.client, trace_id)
        assert "runs retry" in failed[0]
        assert (await run(fleet.client, trace_id)).state == "canceled"
        searched = [call for call in source.calls if call.startswith("search")]
        source.hangs = False
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
