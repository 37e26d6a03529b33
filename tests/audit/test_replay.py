import socket

import pytest

from marchwarden.audit.replay import closed_sockets, differences, rerun
from marchwarden.audit.verify import verify
from marchwarden.contract import ResearchResult, SourceConflict
from marchwarden.core.notebook import Claim, Draft, Plan, Query, Reading, Thought
from marchwarden.errors import InvalidInput, MalformedTrace, ReplayDiverged, SourceError
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.minds.scripted import ScriptedMind
from marchwarden.storage.store import Store
from tests.investigating import QUESTION, an_investigator, change_numbering, remove_later_fields
from tests.world.memory import MemorySource


async def test_the_extractive_mind_is_executed_again_with_the_same_result(tmp_path):
    result = await an_investigator(tmp_path).research(QUESTION)
    again = await rerun(Store(tmp_path), result.trace_id, ExtractiveMind())
    assert again.differences == ()
    assert again.result.answer == result.answer


async def test_a_model_run_is_replayed_from_its_recorded_outputs(tmp_path):
    draft = Draft((Claim("The Alder Bridge was opened in 1931 by the engineer Maud Ferris.", ("p1.s2",)),), 0.9)
    mind = ScriptedMind(None, [Thought(Reading(follow_ups=(Query("Ferris"),)), 50, b"raw exchange")], Thought(draft, 9))
    source = MemorySource(failing={"ferris.md": SourceError("gone")})
    result = await an_investigator(tmp_path, mind=mind, source=source).research(QUESTION)
    assert (await rerun(Store(tmp_path), result.trace_id, ExtractiveMind())).differences == ()


async def test_a_model_run_diverges_if_texts_are_now_split_differently(tmp_path):
    draft = Draft((Claim("The Alder Bridge was opened in 1931 by the engineer Maud Ferris.", ("p1.s2",)),), 0.9)
    result = await an_investigator(tmp_path, mind=ScriptedMind(None, (), Thought(draft, 9))).research(QUESTION)
    change_numbering(Store(tmp_path), result.trace_id)
    with pytest.raises(ReplayDiverged, match="ask the question again"):
        await rerun(Store(tmp_path), result.trace_id, ExtractiveMind())


async def test_a_trace_without_queries_and_urls_is_verified_rerun_and_resumed(tmp_path):
    store, source = Store(tmp_path), MemorySource(failing={"ferris.md": SourceError("gone")})
    result = await an_investigator(tmp_path, source=source).research(QUESTION)
    remove_later_fields(store, result.trace_id)
    assert all(check.proved for check in verify(store, result.trace_id))
    assert (await rerun(store, result.trace_id, ExtractiveMind())).differences == ()
    path = store.path(result.trace_id)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-3]))
    resumed = await an_investigator(tmp_path, source=source).resume(result.trace_id)
    assert differences(result, resumed) == ()


async def test_a_rerun_does_not_change_the_trace(tmp_path):
    result = await an_investigator(tmp_path).research(QUESTION)
    before = Store(tmp_path).text(result.trace_id)
    await rerun(Store(tmp_path), result.trace_id, ExtractiveMind())
    assert Store(tmp_path).text(result.trace_id) == before
    assert Store(tmp_path).traces() == [result.trace_id]


async def test_a_changed_extractive_mind_is_reported_as_a_difference(tmp_path):
    class Changed(ExtractiveMind):
        async def conclude(self, notebook, left):
            return Thought(Draft())

    result = await an_investigator(tmp_path).research(QUESTION)
    assert "answer" in (await rerun(Store(tmp_path), result.trace_id, Changed())).differences


async def test_several_unrecorded_searches_raise_one_divergence(tmp_path):
    class Curious(ExtractiveMind):
        async def plan(self, notebook, left):
            return Thought(Plan((Query("one thing"), Query("another thing"))))

    result = await an_investigator(tmp_path).research(QUESTION)
    with pytest.raises(ReplayDiverged, match="the trace contains no search for"):
        await rerun(Store(tmp_path), result.trace_id, Curious())


async def test_an_unfinished_run_is_not_rerun(tmp_path):
    result = await an_investigator(tmp_path).research(QUESTION)
    path = Store(tmp_path).path(result.trace_id)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    with pytest.raises(MalformedTrace, match="resume"):
        await rerun(Store(tmp_path), result.trace_id, ExtractiveMind())


async def test_a_fork_keeps_earlier_steps_and_continues_with_another_mind(tmp_path):
    first = await an_investigator(tmp_path).research(QUESTION)
    chain = Store(tmp_path).chain(first.trace_id)
    step = next(entry.step for entry in chain.entries if entry.action == "conclude")
    draft = Draft((Claim("The Alder Bridge was opened in 1931 by the engineer Maud Ferris.", ("p1.s2",)),), 0.9)
    other, source = ScriptedMind(concluded=Thought(draft, 11), model_id="other"), MemorySource()
    forked = await an_investigator(tmp_path, mind=other, source=source).fork(first.trace_id, step)
    assert source.calls == []
    assert (other.reads, len(other.seen)) == (0, 1)
    assert forked.trace_id != first.trace_id
    assert forked.cost_metadata.tokens_used == first.cost_metadata.tokens_used + 11
    assert len(forked.citations) == 1
    assert all(check.proved for check in verify(Store(tmp_path), forked.trace_id))
    assert (await rerun(Store(tmp_path), forked.trace_id, ExtractiveMind())).differences == ()


@pytest.mark.parametrize("step", [0, 1, 99])
async def test_a_fork_requires_an_existing_step(tmp_path, step):
    first = await an_investigator(tmp_path).research(QUESTION)
    with pytest.raises(InvalidInput, match="steps 2 to"):
        await an_investigator(tmp_path).fork(first.trace_id, step)


def test_closed_sockets_blocks_connections_only_inside_the_block():
    with socket.create_server(("127.0.0.1", 0)) as server:
        with closed_sockets(), pytest.raises(ReplayDiverged):
            socket.create_connection(server.getsockname(), timeout=1)
        socket.create_connection(server.getsockname(), timeout=1).close()


async def test_fields_added_after_a_run_are_not_a_difference(tmp_path):
    result = await an_investigator(tmp_path).research(QUESTION)
    fields = result.model_dump(mode="json")
    del fields["conflicts"]
    before = ResearchResult.model_validate(fields)
    conflict = SourceConflict(topic="opening", kind="date", stance="contradicts", one=1, other=1)
    after = result.model_copy(update={"conflicts": (conflict,)})
    assert differences(before, after) == ()
    assert differences(result, after) == ("conflicts",)
    assert differences(before, after.model_copy(update={"answer": "Another answer."})) == ("answer",)
